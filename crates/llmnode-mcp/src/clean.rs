//! Names and texts of a server, before a model reads them.

use serde_json::Value;

/// The longest description, in bytes.
const DESCRIPTION: usize = 1024;
/// The longest name that providers take.
const NAME: usize = 64;

/// A name of characters that providers take; all others become `_`.
pub(crate) fn name(text: &str) -> String {
    let name = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    text.chars().map(name).take(NAME).collect()
}

/// A description without what cannot be seen, cut where it is too long.
pub(crate) fn description(text: &str) -> String {
    visible(text, DESCRIPTION)
}

/// A text without what cannot be seen, of that many bytes at most.
pub(crate) fn visible(text: &str, most: usize) -> String {
    let clean: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    match clean.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= most).last() {
        Some(end) if end < clean.len() => format!("{}…", clean[..end].trim_end()),
        _ => clean,
    }
}

/// Cleans all descriptions within a schema.
pub(crate) fn descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if matches!(name.as_str(), "description" | "title") => {
                        *text = description(text);
                    }
                    inner => descriptions(inner),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(descriptions),
        _ => {}
    }
}

/// Characters that a person does not see and a model reads: control characters but line ends and tabs, and those of no width.
fn is_hidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\n' | '\t');
    let unseen = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    control || unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_providers_take() {
        assert_eq!(name("files_read file/é"), "files_read_file__");
        assert_eq!(name(&"x".repeat(100)).len(), 64);
    }

    #[test]
    fn what_cannot_be_seen_is_gone() {
        assert_eq!(description("Reads\u{200b} a\u{202e} file.\u{7}\n\u{e0041}Ends."), "Reads a file.\nEnds.");
    }

    #[test]
    fn long_descriptions_are_cut_at_a_character() {
        let cut = description(&"é".repeat(100_000));
        assert!(cut.len() <= DESCRIPTION + 3 && cut.ends_with("é…"), "{}", cut.len());
    }

    #[test]
    fn descriptions_within_schemas_are_cleaned() {
        let mut schema = serde_json::json!({"properties": {"a": {"description": "b\u{200b}c"}, "description": {"type": "string"}}});
        descriptions(&mut schema);
        assert_eq!(schema["properties"]["a"]["description"], "bc");
        assert_eq!(schema["properties"]["description"]["type"], "string");
    }
}
