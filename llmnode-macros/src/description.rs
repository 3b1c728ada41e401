//! The description of a node or a tool: its doc comment, as rustdoc reads it.
//!
//! The model reads this text, so it is what a person sees in the documentation: the
//! indentation that rustfmt and people put before the lines is taken off, by the
//! rules that rustdoc has. A `doc` attribute whose value is a macro cannot be read
//! here; then the compiler puts the text together by `concat!`, and what stands in
//! it stays as it is.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// `None`: there is no doc comment. `#[doc = include_str!(…)]` stays an expression.
pub(crate) fn doc_text(attributes: &[Attribute]) -> Option<TokenStream> {
    // One entry a line for `///`, one in all for `/** */`. `Err` has the expression
    // that is no literal.
    let docs: Vec<_> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(doc) if doc.path.is_ident("doc") => Some(&doc.value),
            _ => None,
        })
        .map(|value| text(value).ok_or(value))
        .collect();
    // Only if all are literals is the text known here; one that is not makes the
    // whole an expression.
    let lines: Option<Vec<_>> = docs.iter().map(|doc| doc.as_deref().ok()).collect();
    Some(match lines {
        Some(lines) if lines.is_empty() => return None,
        Some(lines) => lines.join("\n").trim().to_token_stream(),
        None => {
            let docs = docs.iter().map(|doc| match doc {
                Ok(line) => line.to_token_stream(),
                Err(value) => value.to_token_stream(),
            });
            generated!(::core::concat!(#(#docs, "\n"),*))
        }
    })
}

/// A doc comment that came through a `macro_rules!` fragment is in an invisible
/// group.
fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        }) => Some(unindented(&literal.value())),
        Expr::Group(group) => text(&group.expr),
        _ => None,
    }
}

/// Also removes the stars of a block comment; from a single line, one space.
/// Only text of several lines has an indentation in common. The first line of a
/// block comment begins behind `/**`, so it counts like the others.
fn unindented(text: &str) -> String {
    let Some((first, rest)) = text.split_once('\n') else {
        return text.strip_prefix(' ').unwrap_or(text).to_owned();
    };
    // Often only the indentation of `*/`.
    let rest = rest.trim_end();
    // All lines have a star, or it is no decoration but a list of the text.
    let stars: Option<Vec<_>> = rest
        .lines()
        .map(|line: &str| line.trim_start().strip_prefix('*').map(str::to_owned))
        .collect();
    let rest = stars.unwrap_or_else(|| rest.lines().map(str::to_owned).collect());
    let lines: Vec<&str> = [first]
        .into_iter()
        .chain(rest.iter().map(String::as_str))
        .collect();
    // Blank lines have no indentation that says anything.
    let written = lines.iter().filter(|line| !line.trim().is_empty());
    let indent = written
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or_default();
    let lines: Vec<_> = lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or_default().trim_end())
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::unindented;

    #[test]
    fn comments_lose_what_only_frames_them() {
        for (comment, text) in [
            (" a", "a"),
            ("  * a", " * a"),
            ("a", "a"),
            (" a\n * b\n *\n *   c ", "a\nb\n\n  c"),
            ("\n * a\n * b\n ", "\na\nb"),
            ("\n    a\n\n      b\n    ", "\na\n\n  b"),
            (" a\n * b\n c", "a\n* b\nc"),
            ("a\n\u{a0}b", "a\n\u{a0}b"),
            ("\u{a0}a\n b", "\u{a0}a\n b"),
            ("\n", ""),
        ] {
            assert_eq!(unindented(comment), text, "{comment:?}");
        }
    }
}
