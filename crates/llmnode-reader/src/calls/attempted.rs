//! A call inside other text.
//!
//! It is not executed: it may be an example. It is only named, so that a complaint
//! can say to the model which call it seems to have wanted. White space and
//! backslashes are left out before the search, so that a call in a string of JSON
//! is found as well.

use std::collections::BTreeMap;

use super::notation::ARGUMENTS;

/// The first of these tools that a text seems to call, though there is more text than the call.
pub fn attempted<'t>(text: &str, tools: &[&'t str]) -> Option<&'t str> {
    let text = without_layout(text);
    let values = values_in(&text);
    for tool in tools {
        let member = format!("\"name\":\"{tool}\"");
        for (at, _) in text.match_indices(&member) {
            let before = &text[..at];
            let behind = &text[at + member.len()..];
            if arguments_follow(behind) || arguments_lead(before, &values) {
                return Some(tool);
            }
        }
    }
    None
}

fn without_layout(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && *c != '\\')
        .collect()
}

/// Whether arguments follow, perhaps behind a type and an id.
fn arguments_follow(mut behind: &str) -> bool {
    while let Some(value) = behind_key(behind, "type").or_else(|| behind_key(behind, "id")) {
        behind = match value.split_once('"') {
            Some((_, rest)) => rest,
            None => "",
        };
    }
    let Some(rest) = behind.strip_prefix(',') else {
        return false;
    };
    ARGUMENTS.iter().any(|key| rest.starts_with(&member(key)))
}

/// The text of a member, if it is the next one.
fn behind_key<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(",\"")?.strip_prefix(key)?;
    rest.strip_prefix("\":\"")
}

/// Where the values of arguments begin, and whether they are objects. All of them
/// at once, as a name looks only for the last one before it.
fn values_in(text: &str) -> BTreeMap<usize, bool> {
    let mut values = BTreeMap::new();
    for key in ARGUMENTS {
        let member = member(key);
        for (at, _) in text.match_indices(&member) {
            let begin = at + member.len();
            let is_object = text[begin..].trim_start_matches('"').starts_with('{');
            values.insert(begin, is_object);
        }
    }
    values
}

/// Whether arguments stand before it.
fn arguments_lead(before: &str, values: &BTreeMap<usize, bool>) -> bool {
    if !before.ends_with(',') {
        return false;
    }
    match values.range(..=before.len()).next_back() {
        Some((_, is_object)) => *is_object,
        None => false,
    }
}

fn member(key: &str) -> String {
    format!("\"{key}\":")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search of all before each name would not end here.
    #[test]
    fn many_names_are_looked_at_once() {
        for begin in ["", r#""arguments": """""#] {
            let text = begin.to_owned() + &r#"  ,"name": "search""#.repeat(200_000);
            assert_eq!(attempted(&text, &["search"]), None, "{begin}");
        }
    }

    #[test]
    fn a_name_without_arguments_is_no_attempt() {
        for text in [
            r#"I call {"name": "search", "arguments": {}} now"#,
            r#"I call {"name": "search", "type": "function", "id": "1", "parameters": {"a": 1}"#,
            r#"So {"arguments": {"word": "a"}, "name": "search"}"#,
        ] {
            assert_eq!(attempted(text, &["search"]), Some("search"), "{text}");
        }
        for text in [
            r#"{"name": "search", "age": 3}"#,
            r#"{"name": "search", "id": "1"#,
            r#"{"name": "search"}, "arguments" are {}"#,
            r#"{"name": "other", "arguments": {}}"#,
        ] {
            assert_eq!(attempted(text, &["search"]), None, "{text}");
        }
    }
}
