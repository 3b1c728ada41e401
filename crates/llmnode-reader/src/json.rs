//! JSON as it was written: numbers keep their digits, objects the order of their members, and nothing is rounded.

use std::borrow::Cow;
use std::fmt;

use crate::decimal::Decimal;

/// Borrows from the text where nothing had to be decoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'t> {
    Null,
    Bool(bool),
    /// As written, and valid in JSON.
    Number(Cow<'t, str>),
    String(Cow<'t, str>),
    Array(Vec<Json<'t>>),
    /// In the order of the text; keys are unique.
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

pub(crate) type Members<'j> = [(Cow<'j, str>, Json<'j>)];

/// Ignores the order of members. `1.0` and `1` differ, since not every type takes both.
pub(super) fn canonical(mut tree: Json<'_>) -> String {
    normalise(&mut tree);
    tree.to_string()
}

fn normalise(json: &mut Json<'_>) {
    match json {
        Json::Number(digits) => {
            let fraction = if digits.contains(['.', 'e', 'E']) {
                ".0"
            } else {
                ""
            };
            if let Some(number) = Decimal::parse(digits) {
                *digits = Cow::Owned(number.to_string() + fraction);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(normalise),
        Json::Object(members) => {
            members.sort_by(|one, other| one.0.cmp(&other.0));
            members.iter_mut().for_each(|(_, value)| normalise(value));
        }
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text);
        f.write_str(&text)
    }
}

impl Json<'_> {
    pub(super) fn value_count(&self) -> u64 {
        match self {
            Json::Array(items) => items
                .iter()
                .map(Json::value_count)
                .fold(1, u64::saturating_add),
            Json::Object(members) => members
                .iter()
                .map(|(_, value)| value.value_count())
                .fold(1, u64::saturating_add),
            _ => 1,
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Number(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    pub(super) fn into_owned(self) -> Json<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Json::Null => Json::Null,
            Json::Bool(value) => Json::Bool(value),
            Json::Number(digits) => Json::Number(owned(digits)),
            Json::String(text) => Json::String(owned(text)),
            Json::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Json::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (owned(key), value.into_owned()))
                    .collect(),
            ),
        }
    }

    fn write(&self, to: &mut String) {
        match self {
            Json::Null => to.push_str("null"),
            Json::Bool(true) => to.push_str("true"),
            Json::Bool(false) => to.push_str("false"),
            Json::Number(digits) => to.push_str(digits),
            Json::String(text) => write_string(text, to),
            Json::Array(items) => {
                to.push('[');
                separated(items, to, Json::write);
                to.push(']');
            }
            Json::Object(members) => {
                to.push('{');
                separated(members, to, |(key, value), to| {
                    write_string(key, to);
                    to.push(':');
                    value.write(to);
                });
                to.push('}');
            }
        }
    }
}

fn separated<T>(list: &[T], to: &mut String, each: impl Fn(&T, &mut String)) {
    for (index, one) in list.iter().enumerate() {
        if index > 0 {
            to.push(',');
        }
        each(one, to);
    }
}

/// serde_json only where something must be escaped.
fn write_string(text: &str, to: &mut String) {
    if !text
        .bytes()
        .any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    {
        to.push('"');
        to.push_str(text);
        return to.push('"');
    }
    to.push_str(&serde_json::to_string(text).unwrap_or_default());
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
            Value::Object(members) => Json::Object(
                members
                    .iter()
                    .map(|(key, value): (&'v String, &'v Value)| {
                        (Cow::Borrowed(key.as_str()), value.into())
                    })
                    .collect(),
            ),
        }
    }
}

/// By JSON Schema, `1` equals `1.0`.
pub(crate) fn json_eq(one: &Json<'_>, other: &Json<'_>) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            one == other
                || Decimal::parse(one).is_some_and(|one| Some(one) == Decimal::parse(other))
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| json_eq(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value): &(Cow<'_, str>, Json<'_>)| {
                    other
                        .iter()
                        .any(|(key, other)| key == name && json_eq(value, other))
                })
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::repair::parse_strict as parse;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tree_keeps_digits_and_is_of_json_only() {
        for text in [
            "1.0",
            "\"a\\n\"",
            "null",
            "[1e400,{\"b\":0.10,\"a\":-0}]",
            "{}",
            "\"\"",
        ] {
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
            "{\"a\":1,\"a\":1}",
            "\"\\ud800\"",
            "'a'",
        ] {
            assert_eq!(
                parse(text).map(|tree| tree.to_string()),
                (text == "\"a\" ").then(|| "\"a\"".to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn only_the_same_values_have_the_same_canonical_text() {
        let of = |text| canonical(parse(text).unwrap());
        for (one, other, same) in [
            (r#"{"a": 1, "b": [1.50]}"#, r#"{"b":[15e-1],"a":1}"#, true),
            ("9007199254740993", "9007199254740992", false),
            ("[0.1]", "[0.1000000000000000055511151231257827]", false),
            ("1", "1.0", false),
            ("0.0", "-0.00", true),
            ("[1, 2]", "[2, 1]", false),
            ("\"1\"", "1", false),
        ] {
            assert_eq!(of(one) == of(other), same, "{one} {other}");
        }
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
