//! From OpenAI's strict subset to that of Gemini's `responseJsonSchema`, which has
//! no `const`, no `$ref` beside other members, no recursion, and counts long lists
//! as many states. <https://ai.google.dev/gemini-api/docs/structured-output>
//!
//! At each place, in this order: `const` becomes `enum`, an `enum` keeps only what
//! Gemini takes, bounds go into the description, and at last a reference that has
//! got a description gets a place of its own.

use serde_json::{Map, Value, json};

use super::anthropic::{into_description, is_recursive};
use crate::tree::children_mut;

/// Moved into the description; reading the type checks them.
const BOUNDS: [&str; 5] = [
    "pattern",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "maxItems",
];

/// `None`: it is beyond the subset.
pub(super) fn subset(strict: &Value) -> Option<Value> {
    if is_recursive(strict) {
        return None;
    }
    let mut subset = strict.clone();
    rewrite(&mut subset);
    Some(subset)
}

/// Also of schemas that are not enforced.
pub(super) fn rewrite(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else {
        return;
    };
    for (_, inner) in children_mut(node) {
        rewrite(inner);
    }
    without_const(node);
    only_words_and_numbers(node);
    into_description(node, &BOUNDS);
    reference_alone(node);
}

/// `null` has a type, and needs no list.
fn without_const(node: &mut Map<String, Value>) {
    let Some(only) = node.shift_remove("const") else {
        return;
    };
    if only.is_null() {
        node.insert("type".to_owned(), json!("null"));
    } else {
        node.insert("enum".to_owned(), json!([only]));
    }
}

/// An `enum` holds only texts and numbers: `null` is written beside it, other
/// values move into the description.
fn only_words_and_numbers(node: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = node.get("enum") else {
        return;
    };
    let mut kept = Vec::new();
    let mut has_null = false;
    let mut has_others = false;
    for value in values {
        match value {
            Value::String(_) | Value::Number(_) => kept.push(value.clone()),
            Value::Null => has_null = true,
            _ => has_others = true,
        }
    }
    if !has_null && !has_others {
        return;
    }
    if kept.is_empty() || has_others {
        return into_description(node, &["enum"]);
    }
    let mut listed = Map::new();
    if let Some(Value::Array(mut types)) = node.shift_remove("type") {
        types.retain(|kind| kind != "null");
        let kind = if types.len() == 1 {
            types.remove(0)
        } else {
            Value::Array(types)
        };
        listed.insert("type".to_owned(), kind);
    }
    listed.insert("enum".to_owned(), Value::Array(kept));
    node.shift_remove("enum");
    node.insert("anyOf".to_owned(), json!([listed, {"type": "null"}]));
}

/// A reference with a description becomes a union of one.
fn reference_alone(node: &mut Map<String, Value>) {
    let has_others = node.keys().any(|name| !name.starts_with('$'));
    if has_others && let Some(target) = node.shift_remove("$ref") {
        node.insert("anyOf".to_owned(), json!([{"$ref": target}]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_that_it_lacks_is_said_otherwise() {
        for (strict, subset_of_it) in [
            (
                json!({"const": "a", "type": "string"}),
                json!({"type": "string", "enum": ["a"]}),
            ),
            (json!({"const": null}), json!({"type": "null"})),
            (
                json!({"const": true, "type": "boolean"}),
                json!({"type": "boolean", "description": "(enum: [true])"}),
            ),
            (
                json!({"type": ["string", "null"], "enum": ["a", "b", null], "description": "One."}),
                json!({"description": "One.", "anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}),
            ),
            (
                json!({"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/A", "description": "An A."}}),
                json!({"type": "array", "minItems": 1, "items": {"description": "An A.", "anyOf": [{"$ref": "#/$defs/A"}]},
                    "description": "(maxItems: 3)"}),
            ),
            (
                json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
                json!({"type": "integer", "minimum": 1, "description": "(exclusiveMaximum: 9)"}),
            ),
            (
                json!({"type": "object", "properties": {"const": {"type": "string"}, "enum": {"$ref": "#/$defs/A"}}}),
                json!({"type": "object", "properties": {"const": {"type": "string"}, "enum": {"$ref": "#/$defs/A"}}}),
            ),
        ] {
            assert_eq!(subset(&strict).unwrap(), subset_of_it, "{strict}");
        }
        let next = json!({"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]});
        let list = json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "properties": {"next": next}}}});
        assert_eq!(subset(&list), None);
    }
}
