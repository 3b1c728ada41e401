//! Files with one JSON object per line.

use llmnode_reader::text::one_line;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The member with the expected output.
pub(super) const EXPECTED: &str = "expected";
/// The member that says whether a case must be right.
pub(super) const MUST: &str = "must";

/// Reports all bad lines, by numbers from 1.
pub(super) fn read<T>(
    bytes: &[u8],
    mut each: impl FnMut(&Map<String, Value>) -> Result<T, String>,
) -> Result<Vec<T>, Vec<(usize, String)>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut read = Vec::new();
    let mut bad = Vec::new();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match row(line).and_then(|row| each(&row)) {
            Ok(one) => read.push(one),
            Err(message) => bad.push((at + 1, one_line(message, 1_000))),
        }
    }
    if bad.is_empty() { Ok(read) } else { Err(bad) }
}

fn row(line: &[u8]) -> Result<Map<String, Value>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_owned())?;
    match serde_json::from_str(text) {
        Ok(Value::Object(row)) => Ok(row),
        Ok(other) => Err(format!(
            "a row is a JSON object, and this is {}",
            kind(&other)
        )),
        Err(error) => Err(format!("no JSON: {error}")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Without a member `expected`, the row itself: its members may be the outputs.
pub(super) fn expected<E: DeserializeOwned>(row: &Map<String, Value>) -> Result<E, String> {
    match row.get(EXPECTED) {
        Some(expected) => E::deserialize(expected).map_err(|error| format!("`expected`: {error}")),
        None => E::deserialize(Value::Object(row.clone())).map_err(|error| {
            format!("no member `expected`, and the row itself is not what is expected: {error}")
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Label {
        verdict: bool,
    }

    #[test]
    fn a_label_stands_in_expected_or_in_the_row() {
        let read = |text: &str| read(text.as_bytes(), expected::<Label>);
        let rows =
            "\u{feff}{\"verdict\": true}\r\n\n{\"expected\": {\"verdict\": false}, \"x\": 1}\n";
        assert_eq!(
            read(rows),
            Ok(vec![Label { verdict: true }, Label { verdict: false }])
        );
        let bad =
            read("{\"verdict\": 1}\n{\"expected\": {}}\n[1]\n{\n{\"verdict\": true}").unwrap_err();
        let lines: Vec<_> = bad.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
        assert!(
            bad[0].1.contains("invalid type: integer `1`"),
            "{}",
            bad[0].1
        );
        assert_eq!(bad[1].1, "`expected`: missing field `verdict`");
        assert_eq!(bad[2].1, "a row is a JSON object, and this is a list");
        assert!(bad[3].1.starts_with("no JSON: EOF"), "{}", bad[3].1);
    }

    #[test]
    fn a_line_that_is_no_text_is_named() {
        let bad = read(b"{}\n\xff\n", |_| Ok(())).unwrap_err();
        assert_eq!((bad[0].0, bad[0].1.as_str()), (2, "it is not UTF-8"));
    }
}
