//! A schema as the older `parameters` of a function on Gemini take it: OpenAPI's words, no references, a type everywhere. What
//! they lack is left out or said in words, since arguments are checked when they come. <https://ai.google.dev/api/caching#Schema>

use serde_json::{Map, Value, json};

/// Types within types; deeper ones are free.
const DEPTH: usize = 16;

/// Types in all; further ones are free. References are written out, and may stand in each other.
const TYPES: usize = 2_000;

const KEPT: [&str; 5] = ["description", "minItems", "maxItems", "minimum", "maximum"];

/// `schema`: as the writer writes it, so that its references lead to definitions.
pub(super) fn parameters(schema: &Value) -> Value {
    let mut writer = Writer {
        root: schema,
        references: Vec::new(),
        depth: 0,
        types: 0,
    };
    writer.written(schema)
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
        let Some(node) = schema.as_object().filter(|_| is_within) else {
            return free();
        };
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
        let target = reference
            .strip_prefix('#')
            .and_then(|path| self.root.pointer(path));
        let Some(target) = target.filter(|_| !self.references.contains(&reference)) else {
            return free();
        };
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
                    let others: Vec<&Value> = types.iter().filter(|one| *one != "null").collect();
                    match others[..] {
                        [only] => drop(own.insert(name.clone(), only.clone())),
                        [] => {}
                        _ => return self.kinds(node, &others, nullable),
                    }
                }
                ("type", kind) if kind == "null" => nullable = true,
                ("items", Value::Object(_)) => drop(own.insert(name.clone(), self.written(value))),
                ("properties", Value::Object(members)) if !members.is_empty() => {
                    own.insert(
                        name.clone(),
                        Value::Object(
                            members
                                .iter()
                                .map(|(name, member): (&String, &'s Value)| {
                                    (name.clone(), self.written(member))
                                })
                                .collect(),
                        ),
                    );
                }
                ("enum", Value::Array(values)) => own.extend(words(values)),
                ("const", value) => own.extend(words(std::slice::from_ref(value))),
                ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
                    let others = choices.iter().filter(|one| one["type"] != "null");
                    let others: Vec<Value> = others.map(|one| self.written(one)).collect();
                    nullable |= others.len() < choices.len();
                    own.extend(one_of(others));
                }
                ("required", Value::Array(names)) if has_members(node) && !names.is_empty() => {
                    own.insert(name.clone(), value.clone());
                }
                (kept, _) if kept == "type" || KEPT.contains(&kept) => {
                    own.insert(name.clone(), value.clone());
                }
                _ => {}
            }
        }
        typed(&mut own, node);
        if nullable {
            own.insert("nullable".to_owned(), json!(true));
        }
        Value::Object(own)
    }

    /// A list of types is a choice of them.
    fn kinds(&mut self, node: &'s Map<String, Value>, kinds: &[&Value], nullable: bool) -> Value {
        let forms = kinds.iter().map(|kind| match kind.as_str() {
            Some("array") => match node.get("items") {
                Some(items) => json!({"type": "array", "items": self.written(items)}),
                None => free_list(),
            },
            _ => json!({"type": kind}),
        });
        let mut own = Map::from_iter([("anyOf".to_owned(), forms.collect())]);
        if nullable {
            own.insert("nullable".to_owned(), json!(true));
        }
        Value::Object(own)
    }
}

fn has_members(node: &Map<String, Value>) -> bool {
    node.get("properties")
        .and_then(Value::as_object)
        .is_some_and(|members| !members.is_empty())
}

/// Any value: the field has no word for it.
fn free() -> Value {
    let mut forms = scalars();
    forms.push(free_list());
    json!({"anyOf": forms, "nullable": true})
}

fn free_list() -> Value {
    json!({"type": "array", "items": {"anyOf": scalars(), "nullable": true}})
}

fn scalars() -> Vec<Value> {
    ["string", "number", "boolean", "object"]
        .map(|kind| json!({"type": kind}))
        .to_vec()
}

/// Each schema needs a type, or choices.
fn typed(own: &mut Map<String, Value>, node: &Map<String, Value>) {
    if own.contains_key("type") || own.contains_key("anyOf") {
        return;
    }
    let listed = node.get("enum").and_then(Value::as_array).cloned();
    let listed = listed
        .or_else(|| node.get("const").map(|only| vec![only.clone()]))
        .unwrap_or_default();
    let kinds = [
        ("string", listed.iter().all(Value::is_string)),
        (
            "integer",
            listed.iter().all(|value| value.is_i64() || value.is_u64()),
        ),
        ("number", listed.iter().all(Value::is_number)),
        ("boolean", listed.iter().all(Value::is_boolean)),
    ];
    let kind = kinds
        .into_iter()
        .find(|(_, are)| *are && !listed.is_empty());
    let (name, form) = match (kind, free()) {
        (Some((kind, _)), _) => ("type", json!(kind)),
        (None, mut free) => {
            own.insert("nullable".to_owned(), json!(true));
            ("anyOf", free["anyOf"].take())
        }
    };
    own.insert(name.to_owned(), form);
}

/// An `enum` lists texts alone.
fn words(values: &[Value]) -> Option<(String, Value)> {
    let listed: Vec<Value> = values
        .iter()
        .filter(|value| !value.is_null())
        .cloned()
        .collect();
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
        let choice =
            json!({"oneOf": [{"const": "a", "type": "string"}, {"const": "b", "type": "string"}]});
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
        let mut written = parameters(&schema);
        let next = written["properties"]
            .as_object_mut()
            .unwrap()
            .shift_remove("next")
            .unwrap();
        assert_eq!(next["properties"]["item"]["enum"], json!(["pen", "ink"]));
        assert_eq!(
            written,
            json!({
                "type": "object", "required": ["item"],
                "properties": {
                    "item": {"type": "string", "enum": ["pen", "ink"], "description": "Which one."},
                    "count": {"type": "integer", "minimum": 0, "maximum": 255, "nullable": true},
                    "kind": {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}], "nullable": true},
                    "few": {"type": "array", "maxItems": 2, "items": {"type": "integer"}},
                    "type": {"type": "string"}
                }
            })
        );
    }

    #[test]
    fn references_within_references_end() {
        let children: Map<String, Value> = (0..9)
            .map(|child| (child.to_string(), json!({"$ref": "#/$defs/Tree"})))
            .collect();
        let tree = json!({"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "object", "properties": children}}});
        let free: Map<String, Value> = (0..9).map(|child| (child.to_string(), free())).collect();
        assert_eq!(
            parameters(&tree),
            json!({"type": "object", "properties": free})
        );

        let twice = |at: usize| json!({"type": "object", "properties": {"a": {"$ref": format!("#/$defs/{at}")}, "b": {"$ref": format!("#/$defs/{at}")}}});
        let defs: Map<String, Value> = (0..40).map(|at| (at.to_string(), twice(at + 1))).collect();
        let doubled = json!({"$ref": "#/$defs/0", "$defs": defs});
        assert!(parameters(&doubled).to_string().len() < 200_000);

        // A chain must not take the stack: schemas of tools may come from others.
        let next = |at: usize| json!({"type": "object", "properties": {"a": {"$ref": format!("#/$defs/{at}")}}});
        let defs: Map<String, Value> = (0..1_900)
            .map(|at| (at.to_string(), next(at + 1)))
            .collect();
        let chain = parameters(&json!({"$ref": "#/$defs/0", "$defs": defs})).to_string();
        assert!(chain.matches("properties").count() < DEPTH, "{chain}");
    }
}
