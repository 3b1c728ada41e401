//! Rewords serde's errors for a model, with the path in the JSON.
//!
//! serde says what it refuses by line and column, and of a value that it cannot
//! quote only its kind. The place is found by going over the JSON up to the column
//! (`reached`); the message is told by its first words, which are serde's own and
//! serde_json's, and may change with their versions: one that is not known stays as
//! it is.

use std::borrow::Cow;

use super::check::Rules;
use super::check::describe::{describe, excerpt};
use super::json::Json;
use super::repair;
use crate::text::{one_line, one_line_shortened};
use crate::violation::Violation;

/// Bytes of a message. A type's own words may be long.
const LENGTH: usize = 600;

/// `rules`: those of the type, whose words for the form of a text are better than serde's.
pub(super) fn violation(json: &str, error: &serde_json::Error, rules: &Rules) -> Violation {
    let mut message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if let Some(words) = message.strip_suffix(&place) {
        message.truncate(words.len());
    }
    let Reached { steps, key } = reached(json, byte_of(json, error));
    let message = match key {
        Some(key) => of_key(&key, &message),
        None => {
            let tree = repair::parse_strict(json);
            let value = tree.as_ref().and_then(|tree| value_at(tree, &steps));
            reworded(message, value, text_in_words(rules, &steps))
        }
    };
    // serde quotes the unexpected value first, and lists what it expected at the end.
    Violation::new(path(&steps), one_line_shortened(message, LENGTH))
}

/// The byte that an error names by line and column.
fn byte_of(json: &str, error: &serde_json::Error) -> usize {
    let lines_before = error.line().saturating_sub(1);
    let mut byte = 0;
    for line in json.split_inclusive('\n').take(lines_before) {
        byte += line.len();
    }
    byte + error.column().saturating_sub(1)
}

/// A name in a map whose keys are no texts.
fn of_key(key: &str, message: &str) -> String {
    let key = format!("has the key {:?}", excerpt(key));
    match expected_bounds(message) {
        Some((least, most)) => format!("{key}, must be a whole number from {least} to {most}"),
        None => format!("{key}: {message}"),
    }
}

/// The range of the integer that serde has expected.
fn expected_bounds(message: &str) -> Option<(i128, i128)> {
    let (_, kind) = message.rsplit_once(", expected ")?;
    bounds(kind)
}

/// What the schema says of the text at a place.
fn text_in_words(rules: &Rules, steps: &[Step]) -> Option<&'static str> {
    let mut forms = rules.forms(rules.answer_rule());
    for step in steps {
        let mut inner = Vec::new();
        for form in forms {
            let number = match step {
                Step::Member(name) => form.member(name),
                Step::Item(index) => form.item(*index),
                Step::Nothing => None,
            };
            if let Some(number) = number {
                inner.extend(rules.forms(rules.at(number)));
            }
        }
        forms = inner;
    }
    forms.iter().find_map(|form| form.text_in_words())
}

/// The value at a place. `None`: serde's position does not lead to one.
fn value_at<'j>(tree: &'j Json<'j>, steps: &[Step]) -> Option<&'j Json<'j>> {
    let mut value = tree;
    for step in steps {
        value = match (value, step) {
            (Json::Object(members), Step::Member(member)) => {
                let (_, inner) = members.iter().find(|(name, _)| name == member)?;
                inner
            }
            (Json::Array(items), Step::Item(index)) => items.get(*index)?,
            (value, Step::Nothing) => value,
            _ => return None,
        };
    }
    Some(value)
}

/// Always with the value, if it is no list or object: a type's own words may lack
/// it. `in_words`: what the text must be.
fn reworded(message: String, value: Option<&Json<'_>>, words: Option<&str>) -> String {
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("missing property {name}");
    }
    if message.contains(", expected unit variant ") {
        return "must not be present".to_owned();
    }
    if message.starts_with("data did not match any variant of untagged enum ") {
        return "matches none of the allowed forms".to_owned();
    }
    // A length is that of the list around the value.
    let is_length = message.starts_with("invalid length ");
    let scalar = match value {
        Some(Json::Array(_) | Json::Object(_)) => None,
        _ if is_length => None,
        value => value,
    };
    let is = match scalar {
        Some(value) => format!("is {}, ", describe(value)),
        None => String::new(),
    };
    if let Some((least, most)) = expected_bounds(&message) {
        return format!("{is}must be an integer from {least} to {most}");
    }
    if let (Some(words), Some(Json::String(_))) = (words, scalar) {
        return format!("{is}must be {words}");
    }
    match scalar {
        Some(value) if !message.contains(&*shown(value)) => {
            format!("is {}: {message}", describe(value))
        }
        _ => message,
    }
}

/// A value as serde quotes it.
fn shown<'j>(value: &'j Json<'j>) -> Cow<'j, str> {
    match value.as_text() {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(value.to_string()),
    }
}

/// The least and the most of a type of integers.
fn bounds(kind: &str) -> Option<(i128, i128)> {
    Some(match kind {
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.into()),
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "usize" => (0, u64::MAX.into()),
        _ => return None,
    })
}

/// Into an object or a list that is open at a place.
enum Step {
    /// Before the first name.
    Nothing,
    Member(String),
    Item(usize),
}

/// Where in the JSON a place is.
#[derive(Default)]
struct Reached {
    steps: Vec<Step>,
    /// A name whose value has not begun.
    key: Option<String>,
}

/// What is open at a byte of the JSON, which serde has parsed up to there.
fn reached(json: &str, at: usize) -> Reached {
    let Some(before) = json.get(..at.min(json.len())) else {
        return Reached::default();
    };
    // Later steps overwrite earlier ones, which leaves the last value before `at`.
    let mut open: Vec<Step> = Vec::new();
    let bytes = before.as_bytes();
    let mut position = 0;
    let mut key = None::<String>;
    while let Some(byte) = bytes.get(position) {
        // The error may be at a bracket or a comma, which then is no part of what is before it.
        let is_last = position + 1 == bytes.len();
        match byte {
            b'{' => open.push(Step::Nothing),
            b'[' => open.push(Step::Item(0)),
            b'}' | b']' if !is_last => drop(open.pop()),
            b',' if !is_last => {
                key = None;
                match open.last_mut() {
                    Some(Step::Item(index)) => *index += 1,
                    Some(step) => *step = Step::Nothing,
                    None => {}
                }
            }
            b':' => {
                if let (Some(step), Some(key)) = (open.last_mut(), key.take()) {
                    *step = Step::Member(key);
                }
            }
            b'"' => {
                // The place may be within the text.
                let length = string_length(&json.as_bytes()[position..]);
                if let Some(string) = json.get(position..position + length)
                    && let Some(Json::String(text)) = repair::parse_strict(string)
                {
                    key = Some(text.into_owned());
                }
                position += length.saturating_sub(1);
            }
            _ => {}
        }
        position += 1;
    }
    let is_before_value = matches!(open.last(), Some(Step::Nothing));
    Reached {
        key: key.filter(|_| is_before_value),
        steps: open,
    }
}

/// As paths are everywhere: `steps[2].item`.
fn path(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Nothing => {}
            Step::Item(index) => path.push_str(&format!("[{index}]")),
            Step::Member(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&one_line(name, usize::MAX));
            }
        }
    }
    path
}

/// How long the string is that begins here, with its quotation marks.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of<T: serde::de::DeserializeOwned>(json: &str) -> String {
        violation(
            json,
            &serde_json::from_str::<T>(json).err().unwrap(),
            Rules::any(),
        )
        .to_string()
    }

    #[test]
    fn the_path_is_that_of_the_value_that_serde_refused() {
        use std::collections::BTreeMap;
        type Map = BTreeMap<String, Vec<u8>>;
        assert_eq!(
            message_of::<Map>(r#"{"a": [1], "b\"": [1, 2, "x"]}"#),
            r#"b"[2]: is "x", must be an integer from 0 to 255"#
        );
        assert_eq!(
            message_of::<Map>(r#"{"a": 7}"#),
            "a: invalid type: integer `7`, expected a sequence"
        );
        assert_eq!(
            message_of::<Vec<(u8, u8)>>("[[1, 2], [3]]"),
            "[1][0]: invalid length 1, expected a tuple of size 2"
        );
        assert_eq!(
            message_of::<u8>("\"x\""),
            "is \"x\", must be an integer from 0 to 255"
        );
    }
}
