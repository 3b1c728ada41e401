//! JSON as it was written: numbers keep their digits, objects the order of their
//! members, and nothing is rounded.
//!
//! A `serde_json::Value` would round numbers before anybody could say that they do
//! not fit. What parses, coerces and checks works on this tree; serde reads it at
//! last as text.

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

/// The members of an object.
pub(crate) type Members<'j> = [(Cow<'j, str>, Json<'j>)];

/// The same text for values that a type reads alike. Ignores the order of members.
/// `1.0` and `1` differ, since not every type takes both.
pub(super) fn canonical(mut tree: Json<'_>) -> String {
    normalise(&mut tree);
    tree.to_string()
}

/// A fraction keeps a mark that it was one. Members are in the order of their names.
fn normalise(json: &mut Json<'_>) {
    match json {
        Json::Number(digits) => {
            let is_fraction = digits.contains(['.', 'e', 'E']);
            if let Some(number) = Decimal::parse(digits) {
                let mark = if is_fraction { ".0" } else { "" };
                *digits = Cow::Owned(format!("{number}{mark}"));
            }
        }
        Json::Array(items) => {
            for item in items {
                normalise(item);
            }
        }
        Json::Object(members) => {
            members.sort_by(|one, other| one.0.cmp(&other.0));
            for (_, value) in members {
                normalise(value);
            }
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
    /// How many values it has, itself among them.
    pub(super) fn value_count(&self) -> u64 {
        let mut count: u64 = 1;
        match self {
            Json::Array(items) => {
                for item in items {
                    count = count.saturating_add(item.value_count());
                }
            }
            Json::Object(members) => {
                for (_, value) in members {
                    count = count.saturating_add(value.value_count());
                }
            }
            _ => {}
        }
        count
    }

    /// The text of a string. A number's digits are none.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// Its type by the name that schemas have for it. Whether a number is an
    /// integer is a question of its own.
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

    /// The same without the text that it was parsed from.
    pub(super) fn into_owned(self) -> Json<'static> {
        match self {
            Json::Null => Json::Null,
            Json::Bool(value) => Json::Bool(value),
            Json::Number(digits) => Json::Number(owned(digits)),
            Json::String(text) => Json::String(owned(text)),
            Json::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Json::Object(members) => {
                let mut owned_members = Vec::with_capacity(members.len());
                for (key, value) in members {
                    owned_members.push((owned(key), value.into_owned()));
                }
                Json::Object(owned_members)
            }
        }
    }

    /// Writes compact JSON.
    fn write(&self, to: &mut String) {
        match self {
            Json::Null => to.push_str("null"),
            Json::Bool(true) => to.push_str("true"),
            Json::Bool(false) => to.push_str("false"),
            Json::Number(digits) => to.push_str(digits),
            Json::String(text) => write_string(text, to),
            Json::Array(items) => {
                to.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        to.push(',');
                    }
                    item.write(to);
                }
                to.push(']');
            }
            Json::Object(members) => {
                to.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        to.push(',');
                    }
                    write_string(key, to);
                    to.push(':');
                    value.write(to);
                }
                to.push('}');
            }
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// serde_json only where something must be escaped, which is rare.
fn write_string(text: &str, to: &mut String) {
    let has_escapes = text
        .bytes()
        .any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\');
    if has_escapes {
        to.push_str(&serde_json::to_string(text).unwrap_or_default());
    } else {
        to.push('"');
        to.push_str(text);
        to.push('"');
    }
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
            Value::Object(object) => {
                let mut members = Vec::with_capacity(object.len());
                for (key, value) in object {
                    members.push((Cow::Borrowed(key.as_str()), Json::from(value)));
                }
                Json::Object(members)
            }
        }
    }
}

/// Whether two values are equal by JSON Schema, where `1` equals `1.0` and the
/// order of members means nothing.
pub(crate) fn json_eq(one: &Json<'_>, other: &Json<'_>) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            if one == other {
                return true;
            }
            let number = Decimal::parse(one);
            number.is_some() && number == Decimal::parse(other)
        }
        (Json::Array(one), Json::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| json_eq(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len() && one.iter().all(|member| has_equal_member(other, member))
        }
        _ => one == other,
    }
}

fn has_equal_member(members: &Members<'_>, member: &(Cow<'_, str>, Json<'_>)) -> bool {
    let (name, value) = member;
    members
        .iter()
        .any(|(key, other)| key == name && json_eq(value, other))
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
