//! Rewords serde's errors for a model, with the path in the JSON.

use std::borrow::Cow;

use super::check::Rules;
use super::check::describe::{describe, excerpt};
use super::json::Json;
use super::repair;
use crate::text::{one_line, one_line_shortened};
use crate::violation::Violation;

const LENGTH: usize = 600;

/// `rules`: those of the type, whose words for the form of a text are better than serde's.
pub(super) fn violation(json: &str, error: &serde_json::Error, rules: &Rules) -> Violation {
    let mut message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if let Some(words) = message.strip_suffix(&place) {
        message.truncate(words.len());
    }
    let line = json
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>();
    let Reached { steps, key } = reached(json, line + error.column().saturating_sub(1));
    if let Some(key) = key {
        let message = of_key(&key, &message);
        return Violation::new(path(&steps), one_line_shortened(message, LENGTH));
    }
    let tree = repair::parse_strict(json);
    let value = tree.as_ref().and_then(|tree| value_at(tree, &steps));
    // serde quotes the unexpected value first, and lists what it expected at the end.
    let message = reworded(message, value, wanted(rules, &steps));
    Violation::new(path(&steps), one_line_shortened(message, LENGTH))
}

/// A name in a map whose keys are no texts.
fn of_key(key: &str, message: &str) -> String {
    let key = format!("has the key {:?}", excerpt(key));
    match message
        .rsplit_once(", expected ")
        .and_then(|(_, kind)| bounds(kind))
    {
        Some((least, most)) => format!("{key}, must be a whole number from {least} to {most}"),
        None => format!("{key}: {message}"),
    }
}

/// What the schema says of the text at a place.
fn wanted(rules: &Rules, steps: &[Step]) -> Option<&'static str> {
    let mut forms = rules.forms(rules.own());
    for step in steps {
        let inner = forms.iter().filter_map(|form| match step {
            Step::Member(name) => form.member(name),
            Step::Item(index) => form.item(*index),
            Step::Nothing => None,
        });
        forms = inner
            .flat_map(|number| rules.forms(rules.at(number)))
            .collect();
    }
    forms.iter().find_map(|form| form.text_in_words())
}

fn value_at<'j>(tree: &'j Json<'j>, steps: &[Step]) -> Option<&'j Json<'j>> {
    steps
        .iter()
        .try_fold(tree, |value, step| match (value, step) {
            (Json::Object(members), Step::Member(wanted)) => members
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value),
            (Json::Array(items), Step::Item(index)) => items.get(*index),
            (value, Step::Nothing) => Some(value),
            _ => None,
        })
}

/// Always with the value, if it is no list or object: a type's own words may lack it.
fn reworded(message: String, value: Option<&Json<'_>>, wanted: Option<&str>) -> String {
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
    let is_told = message.starts_with("invalid length ");
    let scalar =
        value.filter(|value| !is_told && !matches!(value, Json::Array(_) | Json::Object(_)));
    let is = scalar
        .map(|value| format!("is {}, ", describe(value)))
        .unwrap_or_default();
    if let Some((least, most)) = message
        .rsplit_once(", expected ")
        .and_then(|(_, kind)| bounds(kind))
    {
        return format!("{is}must be an integer from {least} to {most}");
    }
    if let (Some(wanted), Some(Json::String(_))) = (wanted, scalar) {
        return format!("{is}must be {wanted}");
    }
    match scalar {
        Some(value) if !message.contains(&*shown(value)) => {
            format!("is {}: {message}", describe(value))
        }
        _ => message,
    }
}

fn shown<'j>(value: &'j Json<'j>) -> Cow<'j, str> {
    value
        .as_text()
        .map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

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

#[derive(Default)]
struct Reached {
    steps: Vec<Step>,
    /// A name whose value has not begun.
    key: Option<String>,
}

fn reached(json: &str, at: usize) -> Reached {
    let Some(end) = json.get(..at.min(json.len())) else {
        return Reached::default();
    };
    // Later steps overwrite earlier ones, which leaves the last value before `at`.
    let mut open: Vec<Step> = Vec::new();
    let bytes = end.as_bytes();
    let mut position = 0;
    let mut key = None::<String>;
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'{' => open.push(Step::Nothing),
            b'[' => open.push(Step::Item(0)),
            b'}' | b']' if position + 1 < bytes.len() => drop(open.pop()),
            b',' if position + 1 < bytes.len() => {
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
                if let Some(Json::String(text)) = json
                    .get(position..position + length)
                    .and_then(repair::parse_strict)
                {
                    key = Some(text.into_owned());
                }
                position += length.saturating_sub(1);
            }
            _ => {}
        }
        position += 1;
    }
    Reached {
        key: key.filter(|_| matches!(open.last(), Some(Step::Nothing))),
        steps: open,
    }
}

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
