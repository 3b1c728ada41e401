//! The types of JSON values, by the names that schemas have for them.

use serde_json::{Map, Value};

/// Whether a value has a type.
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

/// Whether a schema takes values of a type. A type that nobody knows, and no type at all, take any.
pub(crate) fn allows(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(kinds) => names(kinds).iter().any(|name| takes(name, kind)),
        None => true,
    }
}

fn takes(name: &Value, kind: &str) -> bool {
    match name.as_str() {
        Some("number") => matches!(kind, "number" | "integer"),
        Some(name) => name == kind || TYPES.iter().all(|(type_name, ..)| *type_name != name),
        None => true,
    }
}

/// The types that a value should have, in words, if it has none of them.
pub(super) fn wrong_kind(rules: &Map<String, Value>, value: &Value) -> Option<String> {
    for kind in names(rules.get("type")?) {
        if TYPES.iter().any(|(name, _, is)| kind == name && is(value)) {
            return None;
        }
    }
    kinds(rules)
}

/// The types of a schema in words. `null` is left out beside others: a value may then be left out.
pub(super) fn kinds(rules: &Map<String, Value>) -> Option<String> {
    let mut kinds = Vec::new();
    for kind in names(rules.get("type")?) {
        let row = TYPES[1..].iter().find(|(name, ..)| kind == name);
        if let Some((_, words, _)) = row {
            kinds.push(*words);
        }
    }
    if kinds.is_empty() {
        return Some("null".to_owned());
    }
    Some(kinds.join(" or "))
}

pub(crate) fn words_for(value: &Value) -> &'static str {
    TYPES
        .iter()
        .find(|(_, _, is)| is(value))
        .map_or("", |(_, words, _)| words)
}
