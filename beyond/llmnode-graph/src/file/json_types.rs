//! The types of JSON values, by the names that schemas have for them.

use serde_json::{Map, Value};

type Is = fn(&Value) -> bool;

/// The name, the words for people, and which values have the type. A whole number has two.
const TYPES: [(&str, &str, Is); 7] = [
    ("null", "null", Value::is_null),
    ("boolean", "true or false", Value::is_boolean),
    ("string", "a text", Value::is_string),
    ("array", "a list", Value::is_array),
    ("object", "an object", Value::is_object),
    ("number", "a number", Value::is_number),
    ("integer", "a whole number", |value| {
        value.is_i64() || value.is_u64()
    }),
];

fn names(kind: &Value) -> &[Value] {
    match kind {
        Value::Array(names) => names,
        name => std::slice::from_ref(name),
    }
}

pub(crate) fn allows(schema: &Value, kind: &str) -> bool {
    let is = |one: &Value| match one.as_str() {
        Some("number") => matches!(kind, "number" | "integer"),
        Some(name) => name == kind || TYPES.iter().all(|(known, ..)| *known != name),
        None => true,
    };
    schema
        .get("type")
        .is_none_or(|kind| names(kind).iter().any(is))
}

pub(super) fn wrong_kind(rules: &Map<String, Value>, value: &Value) -> Option<String> {
    let has = |kind: &Value| TYPES.iter().any(|(name, _, is)| kind == name && is(value));
    if names(rules.get("type")?).iter().any(has) {
        None
    } else {
        kinds(rules)
    }
}

pub(super) fn kinds(rules: &Map<String, Value>) -> Option<String> {
    let words = |kind: &Value| {
        TYPES[1..]
            .iter()
            .find(|(name, ..)| kind == name)
            .map(|(_, words, _)| *words)
    };
    let words: Vec<&str> = names(rules.get("type")?).iter().filter_map(words).collect();
    Some(if words.is_empty() {
        "null".to_owned()
    } else {
        words.join(" or ")
    })
}

pub(crate) fn words_for(value: &Value) -> &'static str {
    TYPES
        .iter()
        .find(|(_, _, is)| is(value))
        .map_or("", |(_, words, _)| words)
}
