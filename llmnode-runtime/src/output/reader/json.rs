//! JSON as it was written: numbers keep their digits, objects the order of their members, and nothing is rounded.

use std::borrow::Cow;
use std::fmt;

use super::repair;

/// A value of JSON, borrowed from its text where that needs no decoding.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'t> {
    Null,
    Bool(bool),
    /// The digits as written, valid as a number of JSON.
    Number(Cow<'t, str>),
    /// Decoded.
    String(Cow<'t, str>),
    Array(Vec<Json<'t>>),
    /// In the order of the text. No two keys are equal.
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

/// The tree of a text that is JSON; `None` if it isn't, or has a key twice with different values.
pub(crate) fn parse(text: &str) -> Option<Json<'_>> {
    repair::tree(text)
}

/// As strict, compact JSON.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(digits) => f.write_str(digits),
            Json::String(text) => write_string(text, f),
            Json::Array(items) => {
                f.write_str("[")?;
                separated(items, f, |item, f| item.fmt(f))?;
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                separated(members, f, |(key, value), f| {
                    write_string(key, f)?;
                    f.write_str(":")?;
                    value.fmt(f)
                })?;
                f.write_str("}")
            }
        }
    }
}

fn separated<T>(
    list: &[T],
    f: &mut fmt::Formatter<'_>,
    each: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    for (index, one) in list.iter().enumerate() {
        if index > 0 {
            f.write_str(",")?;
        }
        each(one, f)?;
    }
    Ok(())
}

/// In quotes, with what JSON wants escaped.
fn write_string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        f.write_str(&text[plain..at])?;
        plain = at + 1;
        match byte {
            b'"' => f.write_str("\\\"")?,
            b'\\' => f.write_str("\\\\")?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            _ => write!(f, "\\u{byte:04x}")?,
        }
    }
    f.write_str(&text[plain..])?;
    f.write_str("\"")
}

impl<'v> From<&'v serde_json::Value> for Json<'v> {
    fn from(value: &'v serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(Cow::Owned(number.to_string())),
            Value::String(text) => Json::String(Cow::Borrowed(text)),
            Value::Array(items) => Json::Array(items.iter().map(Json::from).collect()),
            Value::Object(members) => {
                let member =
                    |(key, value): (&'v String, &'v Value)| (Cow::Borrowed(key.as_str()), value.into());
                Json::Object(members.iter().map(member).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tree_keeps_digits_and_is_of_json_only() {
        for text in ["1.0", "\"a\\n\"", "null", "[1e400,{\"b\":0.10,\"a\":-0}]", "{}", "\"\""] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "[1,]",
            "01",
            "tru",
            "\"",
            "\"a\" ",
            "{\"a\":1} x",
            "{\"a\":1,\"a\":2}",
            "\"\\ud800\"",
            "'a'",
        ] {
            assert_eq!(
                parse(text).map(|tree| tree.to_string()),
                (text == "\"a\" ").then(|| "\"a\"".to_owned()),
                "{text}"
            );
        }
        assert_eq!(parse("{\"a\":1,\"a\":1}").unwrap().to_string(), "{\"a\":1}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_by_serde_json(key: String, text: String, number: i64) {
            let value = serde_json::json!({key: [text, number, null, {"": true}]});
            let written = Json::from(&value).to_string();
            prop_assert_eq!(parse(&written), Some(Json::from(&value)));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
        }
    }
}
