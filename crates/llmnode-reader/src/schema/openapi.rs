//! A schema as the older `parameters` of a function on Gemini take it: OpenAPI's
//! words, no references, a type everywhere. What they lack is left out or said in
//! words, since arguments are checked when they come.
//! <https://ai.google.dev/api/caching#Schema>
//!
//! References are written out where they stand. So a schema may grow without an
//! end, or go deeper than a stack: what is within itself, too deep or too much is
//! free, which is any value.

use serde_json::{Map, Value, json};

/// Types within types; deeper ones are free.
const DEPTH: usize = 16;

/// Types in all; further ones are free. References are written out, and may stand in each other.
const TYPES: usize = 2_000;

/// Keywords that mean the same there. Formats and patterns do not.
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

/// The writing of one schema.
struct Writer<'s> {
    root: &'s Value,
    /// Those that are being written out: one that contains itself is free within itself.
    references: Vec<&'s str>,
    depth: usize,
    types: usize,
}

impl<'s> Writer<'s> {
    /// Writes a schema, unless that would be too much.
    fn written(&mut self, schema: &'s Value) -> Value {
        let is_within = self.depth < DEPTH && self.types < TYPES;
        let node = match schema {
            Value::Object(node) if is_within => node,
            _ => return free(),
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

    /// Writes what a reference leads to.
    fn referred(&mut self, reference: &'s str) -> Value {
        if self.references.contains(&reference) {
            return free();
        }
        let Some(pointer) = reference.strip_prefix('#') else {
            return free();
        };
        let Some(target) = self.root.pointer(pointer) else {
            return free();
        };
        self.references.push(reference);
        let written = self.written(target);
        self.references.pop();
        written
    }

    /// Writes a schema that is no reference, keyword by keyword. `null` is a flag
    /// there, and no type.
    fn node(&mut self, node: &'s Map<String, Value>) -> Value {
        let mut out: Map<String, Value> = Map::new();
        let mut nullable = false;
        for (keyword, value) in node {
            match (keyword.as_str(), value) {
                ("type", Value::Array(types)) => {
                    nullable |= types.iter().any(|kind| kind == "null");
                    let others: Vec<&Value> = types.iter().filter(|kind| *kind != "null").collect();
                    match others[..] {
                        [only] => {
                            out.insert(keyword.clone(), only.clone());
                        }
                        [] => {}
                        _ => return self.kinds(node, &others, nullable),
                    }
                }
                ("type", kind) if kind == "null" => nullable = true,
                ("items", Value::Object(_)) => {
                    let items = self.written(value);
                    out.insert(keyword.clone(), items);
                }
                ("properties", Value::Object(members)) if !members.is_empty() => {
                    let properties = self.properties(members);
                    out.insert(keyword.clone(), properties);
                }
                ("enum", Value::Array(values)) => out.extend(words(values)),
                ("const", value) => out.extend(words(std::slice::from_ref(value))),
                ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
                    let forms = self.choices(choices);
                    nullable |= forms.len() < choices.len();
                    out.extend(one_of(forms));
                }
                ("required", Value::Array(names)) if has_members(node) && !names.is_empty() => {
                    out.insert(keyword.clone(), value.clone());
                }
                (kept, _) if kept == "type" || KEPT.contains(&kept) => {
                    out.insert(keyword.clone(), value.clone());
                }
                _ => {}
            }
        }
        typed(&mut out, node);
        if nullable {
            out.insert("nullable".to_owned(), json!(true));
        }
        Value::Object(out)
    }

    fn properties(&mut self, members: &'s Map<String, Value>) -> Value {
        let mut properties = Map::new();
        for (name, member) in members {
            let property = self.written(member);
            properties.insert(name.clone(), property);
        }
        Value::Object(properties)
    }

    /// The forms of a union without `null`.
    fn choices(&mut self, choices: &'s [Value]) -> Vec<Value> {
        let mut forms = Vec::new();
        for choice in choices {
            if choice["type"] != "null" {
                forms.push(self.written(choice));
            }
        }
        forms
    }

    /// A list of types is a choice of them.
    fn kinds(&mut self, node: &'s Map<String, Value>, kinds: &[&Value], nullable: bool) -> Value {
        let mut forms = Vec::new();
        for kind in kinds {
            let form = if *kind != "array" {
                json!({"type": kind})
            } else if let Some(items) = node.get("items") {
                json!({"type": "array", "items": self.written(items)})
            } else {
                free_list()
            };
            forms.push(form);
        }
        let mut out = Map::new();
        out.insert("anyOf".to_owned(), Value::Array(forms));
        if nullable {
            out.insert("nullable".to_owned(), json!(true));
        }
        Value::Object(out)
    }
}

fn has_members(node: &Map<String, Value>) -> bool {
    match node.get("properties") {
        Some(Value::Object(members)) => !members.is_empty(),
        _ => false,
    }
}

/// Any value: the field has no word for it.
fn free() -> Value {
    let mut forms = scalars();
    forms.push(free_list());
    json!({"anyOf": forms, "nullable": true})
}

/// Any list: of scalars, since a list of lists would have to end.
fn free_list() -> Value {
    json!({"type": "array", "items": {"anyOf": scalars(), "nullable": true}})
}

/// An object is one of them, since its members need no types.
fn scalars() -> Vec<Value> {
    ["string", "number", "boolean", "object"]
        .map(|kind| json!({"type": kind}))
        .to_vec()
}

/// Gives it a type, or choices, which each schema needs: that of its listed values, or any.
fn typed(out: &mut Map<String, Value>, node: &Map<String, Value>) {
    if out.contains_key("type") || out.contains_key("anyOf") {
        return;
    }
    let listed: &[Value] = match (node.get("enum"), node.get("const")) {
        (Some(Value::Array(values)), _) => values,
        (_, Some(only)) => std::slice::from_ref(only),
        _ => &[],
    };
    if let Some(kind) = kind_of_all(listed) {
        out.insert("type".to_owned(), json!(kind));
        return;
    }
    out.insert("nullable".to_owned(), json!(true));
    let mut any = free();
    out.insert("anyOf".to_owned(), any["anyOf"].take());
}

/// The type that all values have.
fn kind_of_all(values: &[Value]) -> Option<&'static str> {
    if values.is_empty() {
        return None;
    }
    if values.iter().all(Value::is_string) {
        return Some("string");
    }
    let are_integers = values.iter().all(|value| value.is_i64() || value.is_u64());
    if are_integers {
        return Some("integer");
    }
    if values.iter().all(Value::is_number) {
        return Some("number");
    }
    values.iter().all(Value::is_boolean).then_some("boolean")
}

/// The keyword for listed values. An `enum` lists texts alone; `null` is said by its flag.
fn words(values: &[Value]) -> Option<(String, Value)> {
    let mut listed = Vec::new();
    for value in values {
        match value {
            Value::Null => {}
            Value::String(_) => listed.push(value.clone()),
            _ => return None,
        }
    }
    if listed.is_empty() {
        return None;
    }
    Some(("enum".to_owned(), Value::Array(listed)))
}

/// The keywords of a choice. A single one is the type itself.
fn one_of(choices: Vec<Value>) -> Map<String, Value> {
    match choices.as_slice() {
        [] => Map::new(),
        [Value::Object(only)] => only.clone(),
        _ => Map::from_iter([("anyOf".to_owned(), Value::Array(choices))]),
    }
}

/// Gives it the description of the place.
fn described(mut schema: Value, place: &Map<String, Value>) -> Value {
    if let Some(node) = schema.as_object_mut()
        && let Some(description) = place.get("description")
    {
        node.insert("description".to_owned(), description.clone());
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
