//! A call inside other text.

use std::collections::BTreeMap;

use super::notation::ARGUMENTS;

/// The first of these tools that a text seems to call, though there is more text than the call.
pub fn attempted<'t>(text: &str, tools: &[&'t str]) -> Option<&'t str> {
    let text: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '\\')
        .collect();
    let values = values_in(&text);
    tools.iter().copied().find(|name| {
        let member = format!("\"name\":\"{name}\"");
        let mut named = text.match_indices(&member);
        named.any(|(at, _)| follow(&text[at + member.len()..]) || lead(&text[..at], &values))
    })
}

/// Whether arguments follow, perhaps behind a type and an id.
fn follow(mut behind: &str) -> bool {
    while let Some(rest) = behind
        .strip_prefix(",\"type\":\"")
        .or_else(|| behind.strip_prefix(",\"id\":\""))
    {
        behind = rest.split_once('"').map_or("", |(_, rest)| rest);
    }
    behind
        .strip_prefix(',')
        .is_some_and(|rest| ARGUMENTS.iter().any(|key| rest.starts_with(&member(key))))
}

/// Where the values of arguments begin, and whether they are objects.
fn values_in(text: &str) -> BTreeMap<usize, bool> {
    let mut values = BTreeMap::new();
    for key in ARGUMENTS {
        let member = member(key);
        for (at, _) in text.match_indices(&member) {
            let begin = at + member.len();
            values.insert(
                begin,
                text[begin..].trim_start_matches('"').starts_with('{'),
            );
        }
    }
    values
}

/// Whether arguments stand before it.
fn lead(before: &str, values: &BTreeMap<usize, bool>) -> bool {
    let last = values.range(..=before.len()).next_back();
    before.ends_with(',') && last.is_some_and(|(_, is_object)| *is_object)
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
