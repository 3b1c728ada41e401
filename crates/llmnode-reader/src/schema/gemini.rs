//! From OpenAI's strict subset to that of Gemini's `responseJsonSchema`, which has no `const`, no `$ref` beside other members, no
//! recursion, and counts long lists as many states. <https://ai.google.dev/gemini-api/docs/structured-output>

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

pub(super) fn subset(strict: &Value) -> Option<Value> {
    let mut subset = strict.clone();
    rewrite(&mut subset);
    (!is_recursive(strict)).then_some(subset)
}

/// Also of schemas that are not enforced.
pub(super) fn rewrite(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else {
        return;
    };
    children_mut(node).for_each(|(_, inner)| rewrite(inner));
    without_const(node);
    only_words_and_numbers(node);
    into_description(node, &BOUNDS);
    alone(node);
}

fn without_const(node: &mut Map<String, Value>) {
    match node.shift_remove("const") {
        Some(Value::Null) => drop(node.insert("type".to_owned(), json!("null"))),
        Some(only) => drop(node.insert("enum".to_owned(), json!([only]))),
        None => {}
    }
}

/// An `enum` holds only texts and numbers: `null` is written beside it, other values move into the description.
fn only_words_and_numbers(node: &mut Map<String, Value>) {
    let Some(Value::Array(values)) = node.get("enum") else {
        return;
    };
    let (own, others): (Vec<Value>, Vec<Value>) = values
        .iter()
        .cloned()
        .partition(|value: &Value| value.is_string() || value.is_number());
    if others.is_empty() {
        return;
    }
    if own.is_empty() || others.iter().any(|value| !value.is_null()) {
        return into_description(node, &["enum"]);
    }
    let mut one_of = Map::new();
    if let Some(Value::Array(types)) = node.shift_remove("type") {
        let types: Vec<Value> = types.into_iter().filter(|one| one != "null").collect();
        let first = types.first().filter(|_| types.len() == 1).cloned();
        one_of.insert("type".to_owned(), first.unwrap_or(Value::Array(types)));
    }
    one_of.insert("enum".to_owned(), Value::Array(own));
    node.shift_remove("enum");
    node.insert("anyOf".to_owned(), json!([one_of, {"type": "null"}]));
}

/// A reference with a description becomes a union of one.
fn alone(node: &mut Map<String, Value>) {
    if node.keys().any(|name| !name.starts_with('$'))
        && let Some(target) = node.shift_remove("$ref")
    {
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
