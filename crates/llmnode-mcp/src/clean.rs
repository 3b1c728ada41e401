//! Cleans names and texts of a server before a model reads them.

use llmnode_reader::text::is_unseen;
use serde_json::Value;

const MAX_DESCRIPTION_BYTES: usize = 1024;
/// A limit of providers.
const MAX_NAME_CHARS: usize = 64;

/// Providers accept only these characters.
pub(crate) fn name(text: &str) -> String {
    text.chars()
        .map(|c: char| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .take(MAX_NAME_CHARS)
        .collect()
}

pub(crate) fn description(text: &str) -> String {
    without_hidden(text, MAX_DESCRIPTION_BYTES)
}

/// Without what a model reads and a person does not see.
pub(crate) fn without_hidden(text: &str, most: usize) -> String {
    let clean: String = text.chars().filter(|c| !is_unseen(*c)).collect();
    match clean
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .take_while(|end| *end <= most)
        .last()
    {
        Some(end) if end < clean.len() => format!("{}…", clean[..end].trim_end()),
        _ => clean,
    }
}

/// Cleans descriptions, titles and examples. What the server compares stays: names
/// of members, and the values of `enum`, `const` and `default`.
pub(crate) fn clean_schema(schema: &mut Value, clean: &dyn Fn(&str) -> String) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("description" | "title", Value::String(text)) => *text = clean(text),
                    ("examples" | "example", value) => clean_example(value, clean),
                    ("enum" | "const" | "default", _) => {}
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions",
                        Value::Object(named),
                    ) => {
                        for inner in named.values_mut() {
                            clean_schema(inner, clean);
                        }
                    }
                    (_, inner) => clean_schema(inner, clean),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| clean_schema(item, clean)),
        _ => {}
    }
}

fn clean_example(value: &mut Value, clean: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(items) => items.iter_mut().for_each(|item| clean_example(item, clean)),
        Value::Object(members) => {
            for member in members.values_mut() {
                clean_example(member, clean);
            }
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, one)| (clean(&name), one))
                .collect();
        }
        _ => {}
    }
}

pub(crate) fn has_hidden(schema: &Value) -> bool {
    match schema {
        Value::String(text) => text.contains(is_unseen),
        Value::Array(items) => items.iter().any(has_hidden),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.contains(is_unseen) || has_hidden(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_that_providers_take() {
        assert_eq!(name("files_read file/é"), "files_read_file__");
        assert_eq!(name(&"x".repeat(100)).len(), 64);
    }

    #[test]
    fn what_cannot_be_seen_is_gone() {
        assert_eq!(
            description("Reads\u{200b} a\u{202e} file.\u{7}\n\u{e0041}Ends."),
            "Reads a file.\nEnds."
        );
    }

    #[test]
    fn long_descriptions_are_cut_at_a_character() {
        let cut = description(&"é".repeat(100_000));
        assert!(
            cut.len() <= MAX_DESCRIPTION_BYTES + 3 && cut.ends_with("é…"),
            "{}",
            cut.len()
        );
    }

    #[test]
    fn descriptions_titles_and_examples_within_schemas_are_cleaned() {
        let mut schema = json!({
            "title": "t\u{200b}t",
            "examples": [{"a\u{2062}": ["x\u{e0041}y"]}],
            "properties": {
                "a": {"description": "b\u{200b}c", "items": [{"title": "d\u{fe01}"}]},
                "description": {"type": "string"},
                "examples": {"title": "e\u{ad}"},
                "default": {"example": "f\u{3164}"},
            }
        });
        clean_schema(&mut schema, &description);
        let clean = json!({
            "title": "tt",
            "examples": [{"a": ["xy"]}],
            "properties": {
                "a": {"description": "bc", "items": [{"title": "d"}]},
                "description": {"type": "string"},
                "examples": {"title": "e"},
                "default": {"example": "f"},
            }
        });
        assert_eq!(schema, clean);
        assert!(!has_hidden(&schema));
    }

    #[test]
    fn what_the_server_compares_is_not_changed_but_found() {
        for mut schema in [
            json!({"properties": {"a\u{200b}": {}}}),
            json!({"properties": {"a": {"enum": ["x", "y\u{200b}"]}}}),
            json!({"items": {"const": {"description": "y\u{200b}"}}}),
            json!({"properties": {"a": {"default": ["\u{e0041}"]}}}),
            json!({"required": ["a\u{200b}"]}),
        ] {
            let before = schema.clone();
            clean_schema(&mut schema, &description);
            assert_eq!(schema, before);
            assert!(has_hidden(&schema), "{schema}");
        }
    }
}
