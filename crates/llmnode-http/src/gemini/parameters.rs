//! A schema as the older `parameters` of a function take it: OpenAPI's words, no references. What they lack is left out, since
//! arguments are checked when they come. <https://ai.google.dev/api/caching#Schema>

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Of the types within types; deeper ones are free.
const DEPTH: usize = 16;

const KEPT: [&str; 5] = ["description", "minItems", "maxItems", "minimum", "maximum"];

pub(super) fn parameters(schema: &RawValue) -> Value {
    let root: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    written(&root, &root, DEPTH)
}

fn written(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(node) = schema.as_object().filter(|_| depth > 0) else { return json!({"type": "object"}) };
    if let Some(target) = node.get("$ref").and_then(Value::as_str) {
        let target = target.strip_prefix('#').and_then(|path| root.pointer(path)).unwrap_or(&Value::Null);
        return described(written(target, root, depth - 1), node);
    }
    let inner = |schema: &Value| written(schema, root, depth - 1);
    let mut own: Map<String, Value> = Map::new();
    let mut nullable = false;
    for (name, value) in node {
        match (&**name, value) {
            ("type", Value::Array(types)) => nullable |= types.iter().any(|one| one == "null"),
            ("items", Value::Object(_)) => drop(own.insert(name.clone(), inner(value))),
            ("properties", Value::Object(members)) => {
                let members: Map<String, Value> =
                    members.iter().map(|(name, member)| (name.clone(), inner(member))).collect();
                own.insert(name.clone(), Value::Object(members));
            }
            ("enum", Value::Array(values)) => own.extend(words(values)),
            ("const", value) => own.extend(words(std::slice::from_ref(value))),
            ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
                let others = choices.iter().filter(|one| one["type"] != "null");
                let others: Vec<Value> = others.map(inner).collect();
                nullable |= others.len() < choices.len();
                own.extend(one_of(others));
            }
            (kept, _) if matches!(kept, "type" | "required") || KEPT.contains(&kept) => {
                own.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
    if let Some(Value::Array(types)) = node.get("type") {
        let first = types.iter().find(|one| *one != "null").cloned();
        own.insert("type".to_owned(), first.unwrap_or_else(|| json!("string")));
    }
    if nullable {
        own.insert("nullable".to_owned(), json!(true));
    }
    // `allOf` and the like may have brought a description.
    described(Value::Object(own), node)
}

/// An `enum` lists texts alone.
fn words(values: &[Value]) -> Option<(String, Value)> {
    let listed: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
    (!listed.is_empty() && listed.iter().all(Value::is_string))
        .then(|| ("enum".to_owned(), Value::Array(listed)))
}

/// A single choice is the type itself.
fn one_of(mut choices: Vec<Value>) -> Map<String, Value> {
    match (choices.len(), choices.pop()) {
        (1, Some(Value::Object(only))) => only,
        (0, _) | (_, None) => Map::new(),
        (_, Some(last)) => {
            choices.push(last);
            Map::from_iter([("anyOf".to_owned(), Value::Array(choices))])
        }
    }
}

/// What stands beside a reference counts before what it refers to says.
fn described(mut schema: Value, beside: &Map<String, Value>) -> Value {
    if let (Some(schema), Some(description)) = (schema.as_object_mut(), beside.get("description")) {
        schema.insert("description".to_owned(), description.clone());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_words_of_openapi_alone() {
        let choice = json!({"oneOf": [{"const": "a", "type": "string"}, {"const": "b", "type": "string"}]});
        let schema = json!({
            "$schema": "x", "title": "T", "type": "object", "additionalProperties": false, "required": ["item"],
            "properties": {
                "item": {"$ref": "#/$defs/Item", "description": "Which one."},
                "count": {"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255},
                "kind": {"anyOf": [choice, {"type": "null"}]},
                "few": {"type": "array", "maxItems": 2, "items": {"enum": [1, 2]}},
                "type": {"type": "string", "pattern": "a+"},
                "next": {"$ref": "#"}
            },
            "$defs": {"Item": {"type": "string", "enum": ["pen", "ink"], "description": "An item."}}
        });
        let raw = serde_json::value::to_raw_value(&schema).unwrap();
        let mut written = parameters(&raw);
        let next = written["properties"].as_object_mut().unwrap().shift_remove("next").unwrap();
        assert_eq!(next["properties"]["item"]["enum"], json!(["pen", "ink"]));
        assert_eq!(
            written,
            json!({
                "type": "object", "required": ["item"],
                "properties": {
                    "item": {"type": "string", "enum": ["pen", "ink"], "description": "Which one."},
                    "count": {"type": "integer", "minimum": 0, "maximum": 255, "nullable": true},
                    "kind": {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}], "nullable": true},
                    "few": {"type": "array", "maxItems": 2, "items": {}},
                    "type": {"type": "string"}
                }
            })
        );
    }
}
