//! Rewords serde's errors for a model, with the path in the JSON.

use super::json::Json;
use super::repair;
use crate::text::{one_line, one_line_shortened};
use crate::violation::Violation;

const LENGTH: usize = 600;

pub(super) fn violation(json: &str, error: &serde_json::Error) -> Violation {
    let mut message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if let Some(words) = message.strip_suffix(&place) {
        message.truncate(words.len());
    }
    let line = json.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let path = path_at(json, line + error.column().saturating_sub(1));
    // serde quotes the unexpected value first, and lists what it expected at the end.
    Violation::new(path, one_line_shortened(reworded(&message).unwrap_or(message), LENGTH))
}

fn reworded(message: &str) -> Option<String> {
    if let Some(name) = message.strip_prefix("missing field ") {
        return Some(format!("missing property {name}"));
    }
    if message.contains(", expected unit variant ") {
        return Some("must not be present".to_owned());
    }
    let bounds: Option<(i128, i128)> = message.rsplit_once(", expected ").and_then(|(_, kind)| {
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
    });
    if let Some((least, most)) = bounds {
        return Some(format!("must be an integer from {least} to {most}"));
    }
    let untagged = message.starts_with("data did not match any variant of untagged enum ");
    untagged.then(|| "matches none of the allowed forms".to_owned())
}

fn path_at(json: &str, at: usize) -> String {
    let Some(end) = json.get(..at.min(json.len())) else { return String::new() };
    // Later steps overwrite earlier ones, which leaves the last value before `at`.
    let mut open: Vec<String> = Vec::new();
    let bytes = end.as_bytes();
    let (mut position, mut key) = (0, None::<String>);
    while let Some(byte) = bytes.get(position) {
        match byte {
            b'{' => open.push(String::new()),
            b'[' => open.push("[0]".to_owned()),
            b'}' | b']' if position + 1 < bytes.len() => drop(open.pop()),
            b',' if position + 1 < bytes.len() => {
                if let Some(step) = open.last_mut() {
                    let index = step.strip_prefix('[').and_then(|step| step.strip_suffix(']'));
                    *step = match index.and_then(|index| index.parse::<usize>().ok()) {
                        Some(index) => format!("[{}]", index + 1),
                        None => String::new(),
                    };
                }
            }
            b':' => {
                if let (Some(step), Some(key)) = (open.last_mut(), key.take()) {
                    *step = key;
                }
            }
            b'"' => {
                let length = string_length(&bytes[position..]);
                if let Some(Json::String(text)) =
                    json.get(position..position + length).and_then(repair::parse_strict)
                {
                    key = Some(one_line(text, usize::MAX));
                }
                position += length.saturating_sub(1);
            }
            _ => {}
        }
        position += 1;
    }
    let mut path = String::new();
    for step in open.iter().filter(|step| !step.is_empty()) {
        if !path.is_empty() && !step.starts_with('[') {
            path.push('.');
        }
        path.push_str(step);
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
        violation(json, &serde_json::from_str::<T>(json).err().unwrap()).to_string()
    }

    #[test]
    fn the_path_is_that_of_the_value_that_serde_refused() {
        use std::collections::BTreeMap;
        type Map = BTreeMap<String, Vec<u8>>;
        assert_eq!(
            message_of::<Map>(r#"{"a": [1], "b\"": [1, 2, "x"]}"#),
            r#"b"[2]: must be an integer from 0 to 255"#
        );
        assert_eq!(message_of::<Map>(r#"{"a": 7}"#), "a: invalid type: integer `7`, expected a sequence");
        assert_eq!(
            message_of::<Vec<(u8, u8)>>("[[1, 2], [3]]"),
            "[1][0]: invalid length 1, expected a tuple of size 2"
        );
        assert_eq!(message_of::<u8>("\"x\""), "must be an integer from 0 to 255");
    }
}
