//! The derives above an attribute. The compiler has expanded them before, and does not hand them on; but the source file
//! says what they are. It is read for an error alone: where it cannot be, the compiler reports what was derived twice.

use std::fs;

use proc_macro2::Span;

/// A larger file is not read, since each attribute in it would.
const MOST_BYTES: u64 = 1 << 20;

/// The paths that are derived by the attributes above the one that is expanded.
pub(crate) fn derives() -> Vec<String> {
    before().map(|text| derived(&text)).unwrap_or_default()
}

/// The source up to the attribute that is expanded, if that is where its span says.
fn before() -> Option<String> {
    if !proc_macro::is_available() {
        return None;
    }
    let here = Span::call_site().unwrap();
    let (path, written) = (here.local_file()?, here.source_text()?);
    if fs::metadata(&path).ok()?.len() > MOST_BYTES {
        return None;
    }
    let mut text = fs::read_to_string(path).ok()?;
    let line: usize = text.split_inclusive('\n').take(here.line().checked_sub(1)?).map(str::len).sum();
    let column = text[line..].char_indices().nth(here.column().checked_sub(1)?)?.0;
    let stands = text[line + column..].starts_with(&written);
    text.truncate(line + column);
    stands.then_some(text)
}

/// What is derived by the attributes at the end of a text, the last first. A line in between that is neither an attribute
/// nor a comment ends them.
fn derived(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        let line = rest.rfind('\n').map_or(0, |newline| newline + 1);
        if rest[line..].trim_start().starts_with("//") {
            rest = rest[..line].trim_end();
            continue;
        }
        let Some(start) = rest.rfind("#[").filter(|_| rest.ends_with(']')) else { break };
        let line = rest[..start].rfind('\n').map_or(0, |newline| newline + 1);
        if rest[line..start].contains("//") {
            break;
        }
        found.extend(paths(&rest[start + 2..rest.len() - 1]));
        rest = rest[..start].trim_end();
    }
    found
}

/// The paths in `derive(…)`; none if there is anything else in it.
fn paths(attribute: &str) -> Vec<String> {
    let list = attribute.trim().strip_prefix("derive").map(str::trim_start);
    let list = list.and_then(|list| list.strip_prefix('(')?.strip_suffix(')')).unwrap_or_default();
    let is_path = |path: &str| path.chars().all(|c| c == '_' || c == ':' || c.is_alphanumeric());
    let paths = list.split(',').map(|path| path.split_whitespace().collect::<String>());
    let paths: Vec<_> = paths.filter(|path| !path.is_empty()).collect();
    if paths.iter().all(|path| is_path(path)) { paths } else { vec![] }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::derived;

    #[test]
    fn derives_above_an_attribute() {
        for (above, paths) in [
            ("#[derive(Debug, serde::Serialize)]\n", "Debug serde::Serialize"),
            ("struct A;\n    #[derive( Debug ,\n  ::serde :: Serialize,\n)] ", "Debug ::serde::Serialize"),
            ("#[derive(A)]\n/// A.\n#[serde(rename = \"b\")]\n// B.\n\n#[derive(C)]\n", "C A"),
            ("#[derive(A)]\nstruct A;\n#[derive(B)]", "B"),
        ] {
            assert_eq!(derived(above), paths.split(' ').collect::<Vec<_>>(), "{above}");
        }
    }

    #[test]
    fn what_is_no_derive_above_it() {
        for above in [
            "",
            "#[derive(A)]\nstruct A;\n",
            "// #[derive(A)]\n",
            "#[b] // #[derive(A)]\n",
            "/*\n#[derive(A)]\n*/",
            "#[doc = \"#[derive(A)]\"]\n",
            "#[cfg_attr(a, derive(A))]\n",
            "#[derive(A /* #[derive(B)] */)]\n",
            "$(#[$meta])*",
            "]",
            "#[",
            "#[]",
        ] {
            assert_eq!(derived(above).concat(), "", "{above}");
        }
    }

    proptest! {
        #[test]
        fn any_text_may_stand_above(text in "(#\\[|derive|[()\\]é/ ,:A\n])*") {
            let _ = derived(&text);
        }
    }
}
