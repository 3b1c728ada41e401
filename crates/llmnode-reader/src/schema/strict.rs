//! From the plain dialect to OpenAI's strict subset of JSON Schema.
//!
//! The subset requires that the root is an object; every object lists all its properties as required and is closed; unions are
//! `anyOf`; a `$ref` has no siblings. Constraints without a keyword there go into the description, since the type's own reading
//! checks them anyway. What would change the shape of the answer is refused, all places at once.

use serde_json::{Value, json};

use super::kinds::{Kinds, drop_irrelevant_keywords, kinds};
use super::strict_error::{StrictError, StrictProblem};
use super::{limits, nulls};
use crate::tree;
use crate::tree::{Node, branches, is_annotation};

const SUPPORTED: [&str; 11] = [
    "type",
    "description",
    "enum",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];
const DESCRIPTION_ONLY: [&str; 7] = [
    "minLength",
    "maxLength",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "format",
    "default",
];
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

const CONDITIONS: [&str; 8] = [
    "not",
    "if",
    "contains",
    "dependentSchemas",
    "dependentRequired",
    "propertyNames",
    "unevaluatedItems",
    "$dynamicRef",
];

const MAP: (&str, &str) = (
    "a map with free keys",
    "use a list of structs with a key and a value",
);
const OPEN: (&str, &str) = (
    "an object with free members beside the named ones",
    "use a list of structs for the free ones",
);
const TUPLE: (&str, &str) = ("a tuple of mixed types", "use a struct with named fields");
const ANY: (&str, &str) = (
    "a value of any kind",
    "give it a type, or use a String that holds JSON",
);
const MIXED: (&str, &str) = (
    "several schemas at once that can't be merged",
    "nest instead of flattening",
);
const CONDITION: (&str, &str) = (
    "a condition that no type can have",
    "leave it out, and check it in a validator",
);
const CONSTANT: (&str, &str) = (
    "a constant list or object",
    "use strings that name the values",
);
const EXTERNAL_REF: (&str, &str) = (
    "a reference out of `$defs`",
    "move what it refers to into `$defs`",
);

/// `tree`: in the plain dialect, with an object as root. `truncated`: levels were cut off.
pub(super) fn strict(tree: &Value, name: &str, truncated: bool) -> Result<Value, StrictError> {
    let mut writer = Writer {
        defs: nulls::definitions(tree),
        problems: Vec::new(),
    };
    let mut root = writer.schema(tree, name);
    if let Some(defs) = writer.defs {
        let strict = defs
            .iter()
            .map(|(name, def)| (name.clone(), writer.schema(def, name)));
        let strict = Value::Object(strict.collect());
        if let Some(root) = root.as_object_mut() {
            root.insert("$defs".to_owned(), strict);
        }
    }
    let mut problems = writer.problems;
    if truncated {
        problems.push(limits::too_deep(name));
    }
    if problems.is_empty() {
        problems = limits::problems(&root, name);
    }
    if problems.is_empty() {
        return Ok(root);
    }
    // A recursive root is also in `$defs`, under the same name.
    let mut seen = std::collections::HashSet::new();
    problems.retain(|problem| seen.insert((problem.path.clone(), problem.what)));
    Err(StrictError {
        name: name.to_owned(),
        problems,
    })
}

struct Writer<'a> {
    defs: Option<&'a Node>,
    problems: Vec<StrictProblem>,
}

impl Writer<'_> {
    fn refuse(&mut self, path: &str, (what, remedy): (&'static str, &'static str)) -> Value {
        self.problems.push(StrictProblem {
            path: path.to_owned(),
            what,
            remedy,
        });
        json!({})
    }

    fn schema(&mut self, schema: &Value, path: &str) -> Value {
        let Some(node) = schema.as_object() else {
            return self.refuse(path, ANY);
        };
        let shapes = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "properties",
            "items",
            "prefixItems",
        ];
        let given = shapes.iter().filter(|key| node.contains_key(**key)).count();
        if node.contains_key("allOf")
            || (given > 1 && (node.contains_key("$ref") || branches(node).is_some()))
        {
            return self.refuse(path, MIXED);
        }
        if CONDITIONS.iter().any(|key| node.contains_key(*key)) {
            return self.refuse(path, CONDITION);
        }
        if let Some(reference) = node.get("$ref") {
            return self.reference(node, reference, path);
        }
        if let Some(list) = branches(node) {
            return self.union(node, list, path);
        }
        let mut out: Node = node
            .iter()
            .filter(|(k, v)| SUPPORTED.contains(&k.as_str()) && !is_unsupported_pattern(k, v))
            .map(owned)
            .collect();
        if let Some(only) = node.get("const") {
            out.insert("enum".to_owned(), json!([only]));
        }
        match kinds(node, &mut out) {
            Kinds::Unknown => return self.refuse(path, ANY),
            Kinds::Constant => return self.refuse(path, CONSTANT),
            Kinds::Several => return self.refuse(path, MIXED),
            Kinds::Scalar => {}
            Kinds::Object => self.object(node, &mut out, path),
            Kinds::Array => self.array(node, &mut out, path),
        }
        drop_irrelevant_keywords(&mut out);
        describe_constraints(node, &mut out);
        Value::Object(out)
    }

    fn union(&mut self, node: &Node, list: &[Value], path: &str) -> Value {
        if !node
            .keys()
            .all(|key: &String| matches!(key.as_str(), "anyOf" | "oneOf") || is_annotation(key))
            || (node.contains_key("anyOf") && node.contains_key("oneOf"))
        {
            return self.refuse(path, MIXED);
        }
        if list.is_empty() {
            return self.refuse(path, ANY);
        }
        let mut out: Node = node
            .get_key_value("description")
            .into_iter()
            .map(owned)
            .collect();
        let list = list
            .iter()
            .map(|branch| self.schema(branch, path))
            .collect();
        out.insert("anyOf".to_owned(), Value::Array(list));
        describe_constraints(node, &mut out);
        Value::Object(out)
    }

    /// A reference has no siblings: with a description, it becomes a union of one.
    fn reference(&mut self, node: &Node, reference: &Value, path: &str) -> Value {
        if crate::tree::target(self.defs, node).is_none() {
            return self.refuse(path, EXTERNAL_REF);
        }
        if node.keys().any(|key| key != "$ref" && !is_annotation(key)) {
            return self.refuse(path, MIXED);
        }
        let mut union = Node::new();
        if let Some(description) = node.get("description") {
            union.insert("description".to_owned(), description.clone());
        }
        describe_constraints(node, &mut union);
        if union.is_empty() {
            return json!({"$ref": reference});
        }
        union.insert("anyOf".to_owned(), json!([{"$ref": reference}]));
        Value::Object(union)
    }

    fn object(&mut self, node: &Node, out: &mut Node, path: &str) {
        let none = Node::new();
        let properties = node
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        let free = |key: &str| {
            node.get(key)
                .is_some_and(|rest| rest != &Value::Bool(false))
        };
        if free("additionalProperties")
            || free("unevaluatedProperties")
            || free("patternProperties")
        {
            self.refuse(path, if properties.is_empty() { MAP } else { OPEN });
        }
        let required = tree::required(node);
        let mut strict = Node::new();
        for (name, schema) in properties {
            let mut inner = self.schema(schema, &format!("{path}.{name}"));
            if nulls::adds_null(self.defs, required.contains(name.as_str()), schema) {
                inner = nullable(inner);
            }
            strict.insert(name.clone(), inner);
        }
        let required = strict.keys().cloned().map(Value::String).collect();
        out.insert("properties".to_owned(), Value::Object(strict));
        out.insert("required".to_owned(), Value::Array(required));
        out.insert("additionalProperties".to_owned(), json!(false));
    }

    fn array(&mut self, node: &Node, out: &mut Node, path: &str) {
        let item = match node.get("prefixItems").and_then(Value::as_array) {
            Some(tuple) => {
                let length = json!(tuple.len());
                let fixed =
                    node.get("minItems") == Some(&length) && node.get("maxItems") == Some(&length);
                match tuple.first() {
                    Some(first) if fixed && tuple.iter().all(|item| item == first) => Some(first),
                    _ => {
                        self.refuse(path, TUPLE);
                        return;
                    }
                }
            }
            None => node.get("items"),
        };
        let item = self.schema(item.unwrap_or(&Value::Bool(true)), &format!("{path}[]"));
        out.insert("items".to_owned(), item);
    }
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// The subset has no look-around.
fn is_unsupported_pattern(key: &str, value: &Value) -> bool {
    key == "pattern"
        && value
            .as_str()
            .is_none_or(|text| ["(?=", "(?!", "(?<"].iter().any(|part| text.contains(part)))
}

fn describe_constraints(node: &Node, out: &mut Node) {
    let mut notes = Vec::new();
    for key in DESCRIPTION_ONLY {
        match node.get(key) {
            None | Some(Value::Null | Value::Object(_) | Value::Array(_)) => {}
            Some(Value::String(format))
                if key == "format" && FORMATS.contains(&format.as_str()) =>
            {
                out.insert(key.to_owned(), json!(format));
            }
            Some(value) => notes.push(format!("{key}: {value}")),
        }
    }
    if let Some(pattern) = node
        .get("pattern")
        .filter(|value| value.is_string() && is_unsupported_pattern("pattern", value))
    {
        notes.push(format!("pattern: {pattern}"));
    }
    describe(out, notes);
}

/// Adds notes to a description.
pub(super) fn describe(out: &mut Node, notes: Vec<String>) {
    if notes.is_empty() {
        return;
    }
    let notes = format!("({})", notes.join(", "));
    let told = match out.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description} {notes}"),
        None => notes,
    };
    out.insert("description".to_owned(), Value::String(told));
}

fn nullable(schema: Value) -> Value {
    let Value::Object(mut node) = schema else {
        return schema;
    };
    if let Some(Value::Array(list)) = node.get_mut("anyOf") {
        list.push(json!({"type": "null"}));
        return Value::Object(node);
    }
    match node.get_mut("type") {
        Some(Value::Array(kinds)) => kinds.push(json!("null")),
        Some(kind @ Value::String(_))
            if !kind.as_str().is_some_and(|k| k == "object" || k == "array") =>
        {
            *kind = json!([kind.take(), "null"]);
        }
        _ => {
            // It belongs to the property, not to one of its two forms.
            let description = node.shift_remove("description");
            let mut union = Node::new();
            union.extend(description.map(|text| ("description".to_owned(), text)));
            union.insert("anyOf".to_owned(), json!([node, {"type": "null"}]));
            return Value::Object(union);
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.push(Value::Null);
    }
    Value::Object(node)
}
