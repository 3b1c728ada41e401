//! A call inside other text.

use super::notation::ARGUMENTS;

/// The first of these tools that a text seems to call, though there is more text than the call.
pub fn attempted<'t>(text: &str, tools: &[&'t str]) -> Option<&'t str> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect();
    tools.iter().copied().find(|name| {
        let member = format!("\"name\":\"{name}\"");
        let mut named = text.match_indices(&member);
        named.any(|(at, _)| follow(&text[at + member.len()..]) || lead(&text[..at]))
    })
}

/// Whether arguments follow, perhaps behind a type and an id.
fn follow(mut behind: &str) -> bool {
    while let Some(rest) = behind.strip_prefix(",\"type\":\"").or_else(|| behind.strip_prefix(",\"id\":\"")) {
        behind = rest.split_once('"').map_or("", |(_, rest)| rest);
    }
    behind.strip_prefix(',').is_some_and(|rest| ARGUMENTS.iter().any(|key| rest.starts_with(&member(key))))
}

fn lead(before: &str) -> bool {
    let value = ARGUMENTS.iter().find_map(|key| Some(before.rsplit_once(&member(key))?.1));
    before.ends_with(',') && value.is_some_and(|value| value.trim_start_matches('"').starts_with('{'))
}

fn member(key: &str) -> String {
    format!("\"{key}\":")
}

#[cfg(test)]
mod tests {
    use super::*;

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
