//! Traversal of JSON schemas: which members of a schema are schemas, and where a reference leads.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

pub(crate) type Node = Map<String, Value>;

/// The only member of the object that wraps an answer whose type is not an object.
pub const WRAPPER: &str = "value";

const SCHEMA_KEYWORDS: [&str; 11] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
];
const SCHEMA_LIST_KEYWORDS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SCHEMA_MAP_KEYWORDS: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

pub(crate) fn children(node: &Node) -> impl Iterator<Item = &Value> {
    node.iter()
        .flat_map(|(key, value)| -> Box<dyn Iterator<Item = &Value>> {
            match value {
                value if SCHEMA_KEYWORDS.contains(&key.as_str()) => {
                    Box::new(std::iter::once(value))
                }
                Value::Array(list) if SCHEMA_LIST_KEYWORDS.contains(&key.as_str()) => {
                    Box::new(list.iter())
                }
                Value::Object(named) if SCHEMA_MAP_KEYWORDS.contains(&key.as_str()) => {
                    Box::new(named.values())
                }
                _ => Box::new(std::iter::empty()),
            }
        })
}

pub(crate) fn children_mut(node: &mut Node) -> impl Iterator<Item = (&str, &mut Value)> {
    node.iter_mut().flat_map(
        |(key, value)| -> Box<dyn Iterator<Item = (&str, &mut Value)>> {
            let key = key.as_str();
            match value {
                value if SCHEMA_KEYWORDS.contains(&key) => Box::new(std::iter::once((key, value))),
                Value::Array(list) if SCHEMA_LIST_KEYWORDS.contains(&key) => {
                    Box::new(list.iter_mut().map(move |value| (key, value)))
                }
                Value::Object(named) if SCHEMA_MAP_KEYWORDS.contains(&key) => {
                    Box::new(named.values_mut().map(move |value| (key, value)))
                }
                _ => Box::new(std::iter::empty()),
            }
        },
    )
}

pub(crate) fn holds_schemas(key: &str, value: &Value) -> bool {
    SCHEMA_KEYWORDS.contains(&key)
        || (value.is_array() && SCHEMA_LIST_KEYWORDS.contains(&key))
        || (value.is_object() && SCHEMA_MAP_KEYWORDS.contains(&key))
}

pub(crate) fn def_name(reference: &str) -> Option<Cow<'_, str>> {
    let encoded = reference.strip_prefix("#/$defs/")?;
    if encoded.contains('/') {
        return None;
    }
    if !encoded.contains(['%', '~']) {
        return Some(Cow::Borrowed(encoded));
    }
    Some(Cow::Owned(
        percent_decoded(encoded)?
            .replace("~1", "/")
            .replace("~0", "~"),
    ))
}

pub(crate) fn percent_decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let high = rest.next()?;
            let low = rest.next()?;
            let digit = |b: u8| {
                char::from(b)
                    .to_digit(16)
                    .and_then(|d| u8::try_from(d).ok())
            };
            digit(high)? * 16 + digit(low)?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok()
}

pub(crate) fn target<'a>(defs: Option<&'a Node>, node: &Node) -> Option<&'a Value> {
    defs?.get(def_name(node.get("$ref")?.as_str()?)?.as_ref())
}

pub(crate) fn branches(node: &Node) -> Option<&Vec<Value>> {
    node.get("anyOf").or_else(|| node.get("oneOf"))?.as_array()
}

pub(crate) fn has_type(node: &Node, kind: &str) -> bool {
    match node.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|k| k == kind),
        _ => false,
    }
}

pub(crate) fn required(node: &Node) -> HashSet<&str> {
    let names = node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    names.filter_map(Value::as_str).collect()
}

/// Keywords that allow and forbid nothing.
/// Whether the keyword describes, and constrains nothing.
pub fn is_annotation(key: &str) -> bool {
    matches!(
        key,
        "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
            | "$defs"
    ) || key.starts_with("x-")
}
