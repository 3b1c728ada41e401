//! The types that the values of a schema have; the strict dialect requires a `type` everywhere.

use serde_json::{Value, json};

use crate::tree::{Node, has_type};

/// The types of JSON Schema.
pub(super) const TYPE_NAMES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];

/// What the values of a schema are.
pub(super) enum Kinds {
    Scalar,
    Object,
    Array,
    /// Both objects and lists.
    Several,
    /// Constants that are objects or lists.
    Constant,
    Unknown,
}

/// What the values of a schema are. Also sets the `type` of `out` where other keywords imply it.
pub(super) fn kinds(node: &Node, out: &mut Node) -> Kinds {
    for (key, kind) in [
        ("properties", "object"),
        ("items", "array"),
        ("prefixItems", "array"),
    ] {
        if node.contains_key(key) && !out.contains_key("enum") {
            out.entry("type").or_insert_with(|| json!(kind));
        }
    }
    if out.contains_key("enum") {
        return kinds_of_enum(out);
    }
    if !is_known(out) {
        return Kinds::Unknown;
    }
    match (has_type(out, "object"), has_type(out, "array")) {
        (true, true) => Kinds::Several,
        (true, false) => Kinds::Object,
        (false, true) => Kinds::Array,
        (false, false) => Kinds::Scalar,
    }
}

/// The type of listed values, which is more precise than a `type` beside them.
fn kinds_of_enum(out: &mut Node) -> Kinds {
    let mut kinds: Vec<&str> = match out.get("enum") {
        Some(Value::Array(values)) if !values.is_empty() => values.iter().map(kind_of).collect(),
        _ => return Kinds::Unknown,
    };
    if kinds.contains(&"object") || kinds.contains(&"array") {
        return Kinds::Constant;
    }
    kinds.sort_unstable();
    kinds.dedup();
    let kind = match kinds.as_slice() {
        [only] => json!(only),
        several => json!(several),
    };
    out.insert("type".to_owned(), kind);
    Kinds::Scalar
}

/// Removes bounds of another type than the schema's: strict mode refuses them.
pub(super) fn drop_irrelevant_keywords(out: &mut Node) {
    let array = has_type(out, "array");
    let text = has_type(out, "string");
    let number = has_type(out, "number") || has_type(out, "integer");
    out.retain(|key, _| match key.as_str() {
        "minItems" | "maxItems" => array,
        "pattern" => text,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => number,
        _ => true,
    });
}

/// Whether the schema names types of JSON, each once.
fn is_known(node: &Node) -> bool {
    match node.get("type") {
        Some(Value::Array(kinds)) => {
            for (index, kind) in kinds.iter().enumerate() {
                if !is_type_name(kind) || kinds[..index].contains(kind) {
                    return false;
                }
            }
            !kinds.is_empty()
        }
        Some(kind) => is_type_name(kind),
        None => false,
    }
}

/// Whether it is the name of a type of JSON Schema.
pub(super) fn is_type_name(kind: &Value) -> bool {
    match kind.as_str() {
        Some(kind) => TYPE_NAMES.contains(&kind),
        None => false,
    }
}

/// The narrowest type that a value is of.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
