//! What is said about a value: how it is shown, and what is expected in its place.

use serde_json::{Map, Value};

use super::super::reader::Json;
use crate::text::one_line;

/// How many bytes of a value are shown.
const SHOWN: usize = 60;

/// A value, short.
pub(crate) fn told(value: &Json<'_>) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(digits) => shown(digits),
        Json::String(text) => format!("{:?}", shown(text)),
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

/// A text, short.
pub(crate) fn shown(text: &str) -> String {
    one_line(text, SHOWN)
}

/// A list of types in words.
pub(super) fn either(types: &[&str]) -> String {
    types.join(" or ")
}

/// The types of a schema.
pub(crate) fn types(node: &Map<String, Value>) -> Vec<&str> {
    match node.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The type of a value that stands in a schema.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value that is allowed, as it is listed.
pub(crate) fn listed(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
