//! The types that the values of a schema have; the strict dialect requires a `type` everywhere.

use serde_json::{Value, json};

use crate::tree::{Node, has_type};

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

/// Also sets the `type` of `out` where other keywords imply it.
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
    if let Some(values) = out.get("enum") {
        let Some(values) = values.as_array().filter(|values| !values.is_empty()) else {
            return Kinds::Unknown;
        };
        let mut named: Vec<&str> = values.iter().map(kind_of).collect();
        if named.iter().any(|kind| matches!(*kind, "object" | "array")) {
            return Kinds::Constant;
        }
        named.sort_unstable();
        named.dedup();
        let kind = if let [only] = named.as_slice() {
            json!(only)
        } else {
            json!(named)
        };
        // More precise than a `type` beside them.
        out.insert("type".to_owned(), kind);
        return Kinds::Scalar;
    }
    match (
        is_known(out),
        has_type(out, "object"),
        has_type(out, "array"),
    ) {
        (false, ..) => Kinds::Unknown,
        (true, true, true) => Kinds::Several,
        (true, true, false) => Kinds::Object,
        (true, false, true) => Kinds::Array,
        (true, false, false) => Kinds::Scalar,
    }
}

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

fn is_known(node: &Node) -> bool {
    const NAMES: [&str; 7] = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    let is_name = |kind: &Value| kind.as_str().is_some_and(|kind| NAMES.contains(&kind));
    match node.get("type") {
        Some(Value::Array(kinds)) => {
            let once = kinds
                .iter()
                .enumerate()
                .all(|(at, kind)| is_name(kind) && !kinds[..at].contains(kind));
            once && !kinds.is_empty()
        }
        Some(kind) => is_name(kind),
        None => false,
    }
}

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
