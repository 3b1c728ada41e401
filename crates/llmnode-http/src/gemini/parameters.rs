//! A schema as the older `parameters` of a function take it: OpenAPI's words, no references. What they lack is left out, since
//! arguments are checked when they come. <https://ai.google.dev/api/caching#Schema>

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Types within types; deeper ones are free.
const DEPTH: usize = 16;

/// Types in all; further ones are free. References are written out, and may stand in each other.
const TYPES: usize = 2_000;

const KEPT: [&str; 5] = ["description", "minItems", "maxItems", "minimum", "maximum"];

pub(super) fn parameters(schema: &RawValue) -> Value {
    let root: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    Writer { root: &root, references: Vec::new(), depth: 0, types: 0 }.written(&root)
}

struct Writer<'s> {
    root: &'s Value,
    /// Those that are being written out: one that contains itself is free within itself.
    references: Vec<&'s str>,
    depth: usize,
    types: usize,
}

impl<'s> Writer<'s> {
    fn written(&mut self, schema: &'s Value) -> Value {
        let is_within = self.depth < DEPTH && self.types < TYPES;
        let Some(node) = schema.as_object().filter(|_| is_within) else { return free() };
        self.types += 1;
        self.depth += 1;
        let written = match node.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.referred(reference),
            None => self.node(node),
        };
        self.depth -= 1;
        // What stands beside a reference, or beside its choices, counts before what those say.
        described(written, node)
    }

    fn referred(&mut self, reference: &'s str) -> Value {
        let target = reference.strip_prefix('#').and_then(|path| self.root.pointer(path));
        let Some(target) = target.filter(|_| !self.references.contains(&reference)) else { return free() };
        self.references.push(reference);
        let written = self.written(target);
        self.references.pop();
        written
    }

    fn node(&mut self, node: &'s Map<String, Value>) -> Value {
        let mut own: Map<String, Value> = Map::new();
        let mut nullable = false;
        for (name, value) in node {
            match (&**name, value) {
                ("type", Value::Array(types)) => {
                    nullable |= types.iter().any(|one| one == "null");
                    let first = types.iter().find(|one| *one != "null").cloned();
                    own.insert(name.clone(), first.unwrap_or_else(|| json!("string")));
                }
                ("items", Value::Object(_)) => drop(own.insert(name.clone(), self.written(value))),
                ("properties", Value::Object(members)) => {
                    let member = |(name, member): (&String, &'s Value)| (name.clone(), self.written(member));
                    own.insert(name.clone(), Value::Object(members.iter().map(member).collect()));
                }
                ("enum", Value::Array(values)) => own.extend(words(values)),
                ("const", value) => own.extend(words(std::slice::from_ref(value))),
                ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
                    let others = choices.iter().filter(|one| one["type"] != "null");
                    let others: Vec<Value> = others.map(|one| self.written(one)).collect();
                    nullable |= others.len() < choices.len();
                    own.extend(one_of(others));
                }
                (kept, _) if matches!(kept, "type" | "required") || KEPT.contains(&kept) => {
                    own.insert(name.clone(), value.clone());
                }
                _ => {}
            }
        }
        if nullable {
            own.insert("nullable".to_owned(), json!(true));
        }
        Value::Object(own)
    }
}

fn free() -> Value {
    json!({"type": "object"})
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

    #[test]
    fn references_within_references_end() {
        let raw = |schema: Value| serde_json::value::to_raw_value(&schema).unwrap();
        let children: Map<String, Value> =
            (0..9).map(|child| (child.to_string(), json!({"$ref": "#/$defs/Tree"}))).collect();
        let tree =
            json!({"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "object", "properties": children}}});
        let free: Map<String, Value> = (0..9).map(|child| (child.to_string(), free())).collect();
        assert_eq!(parameters(&raw(tree)), json!({"type": "object", "properties": free}));

        let twice = |at: usize| json!({"type": "object", "properties": {"a": {"$ref": format!("#/$defs/{at}")}, "b": {"$ref": format!("#/$defs/{at}")}}});
        let defs: Map<String, Value> = (0..40).map(|at| (at.to_string(), twice(at + 1))).collect();
        let doubled = json!({"$ref": "#/$defs/0", "$defs": defs});
        assert!(parameters(&raw(doubled)).to_string().len() < 200_000);

        // A chain must not take the stack: schemas of tools may come from others.
        let next =
            |at: usize| json!({"type": "object", "properties": {"a": {"$ref": format!("#/$defs/{at}")}}});
        let defs: Map<String, Value> = (0..1_900).map(|at| (at.to_string(), next(at + 1))).collect();
        let chain = parameters(&raw(json!({"$ref": "#/$defs/0", "$defs": defs}))).to_string();
        assert!(chain.matches("properties").count() < DEPTH, "{chain}");
    }
}
