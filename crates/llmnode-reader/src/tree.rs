//! Traversal of JSON schemas: which members of a schema are schemas, and where a reference leads.
//!
//! The tables are the only place that knows it. A member of `properties` may have
//! the name of a keyword, so no code looks for keywords without going through them.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

/// A schema that is an object of keywords.
pub(crate) type Node = Map<String, Value>;

/// The only member of the object that wraps an answer whose type is not an object.
pub const WRAPPER: &str = "value";

/// Their value is a schema.
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
/// Their value is a list of schemas.
const SCHEMA_LIST_KEYWORDS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Their value is an object, whose members are schemas with names.
const SCHEMA_MAP_KEYWORDS: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// The schemas within a schema, one level down.
pub(crate) fn children(node: &Node) -> impl Iterator<Item = &Value> {
    let mut children = Vec::new();
    for (key, value) in node {
        let key = key.as_str();
        match value {
            value if SCHEMA_KEYWORDS.contains(&key) => children.push(value),
            Value::Array(list) if SCHEMA_LIST_KEYWORDS.contains(&key) => children.extend(list),
            Value::Object(named) if SCHEMA_MAP_KEYWORDS.contains(&key) => {
                children.extend(named.values());
            }
            _ => {}
        }
    }
    children.into_iter()
}

/// The same, to change them, each with the keyword that holds it.
pub(crate) fn children_mut(node: &mut Node) -> impl Iterator<Item = (&str, &mut Value)> {
    let mut children = Vec::new();
    for (key, value) in node.iter_mut() {
        let key = key.as_str();
        match value {
            value if SCHEMA_KEYWORDS.contains(&key) => children.push((key, value)),
            Value::Array(list) if SCHEMA_LIST_KEYWORDS.contains(&key) => {
                for value in list {
                    children.push((key, value));
                }
            }
            Value::Object(named) if SCHEMA_MAP_KEYWORDS.contains(&key) => {
                for value in named.values_mut() {
                    children.push((key, value));
                }
            }
            _ => {}
        }
    }
    children.into_iter()
}

/// Whether a keyword with this value is one of those.
pub(crate) fn holds_schemas(key: &str, value: &Value) -> bool {
    SCHEMA_KEYWORDS.contains(&key)
        || (value.is_array() && SCHEMA_LIST_KEYWORDS.contains(&key))
        || (value.is_object() && SCHEMA_MAP_KEYWORDS.contains(&key))
}

/// The name of the definition that a reference leads to. `None`: it leads into one, or elsewhere.
pub(crate) fn def_name(reference: &str) -> Option<Cow<'_, str>> {
    let encoded = reference.strip_prefix("#/$defs/")?;
    if encoded.contains('/') {
        return None;
    }
    if !encoded.contains(['%', '~']) {
        return Some(Cow::Borrowed(encoded));
    }
    // `~` is an escape of the pointer, which the URL's escapes are around.
    let pointer = percent_decoded(encoded)?;
    let name = pointer.replace("~1", "/").replace("~0", "~");
    Some(Cow::Owned(name))
}

/// Undoes the escapes of a URL. `None`: one is cut short, or the bytes are no text.
pub(crate) fn percent_decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = hex_digit(rest.next()?)?;
        let low = hex_digit(rest.next()?)?;
        bytes.push(high * 16 + low);
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

/// The definition that a schema refers to.
pub(crate) fn target<'a>(defs: Option<&'a Node>, node: &Node) -> Option<&'a Value> {
    let reference = node.get("$ref")?.as_str()?;
    let name = def_name(reference)?;
    defs?.get(name.as_ref())
}

/// The forms of a union.
pub(crate) fn branches(node: &Node) -> Option<&Vec<Value>> {
    node.get("anyOf").or_else(|| node.get("oneOf"))?.as_array()
}

/// Whether a schema names this type, alone or among others.
pub(crate) fn has_type(node: &Node, kind: &str) -> bool {
    match node.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|k| k == kind),
        _ => false,
    }
}

pub(crate) fn required(node: &Node) -> HashSet<&str> {
    let Some(Value::Array(names)) = node.get("required") else {
        return HashSet::new();
    };
    names.iter().filter_map(Value::as_str).collect()
}

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
