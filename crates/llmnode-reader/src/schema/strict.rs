//! From the plain dialect to OpenAI's strict subset of JSON Schema.
//!
//! The subset requires that the root is an object; every object lists all its
//! properties as required and is closed; unions are `anyOf`; a `$ref` has no
//! siblings. Constraints without a keyword there go into the description, since the
//! type's own reading checks them anyway. What would change the shape of the answer
//! is refused, all places at once: who writes a type mends them in one go.
//!
//! A place that was refused is written as `{}` and the writing goes on; the whole
//! is then not returned.

use serde_json::{Value, json};

use super::kinds::{Kinds, drop_irrelevant_keywords, kinds};
use super::strict_error::{StrictError, StrictProblem};
use super::{limits, nulls};
use crate::tree;
use crate::tree::{Node, branches, is_annotation};

/// Keywords that the subset has.
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
/// Keywords that go into the description.
const DESCRIPTION_ONLY: [&str; 7] = [
    "minLength",
    "maxLength",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "format",
    "default",
];
/// Values of `format` that the subset knows.
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

/// Keywords that make one part of a value depend on another.
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

/// What is refused: what it is, and the remedy.
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
        let mut strict_defs = Node::new();
        for (name, definition) in defs {
            let strict = writer.schema(definition, name);
            strict_defs.insert(name.clone(), strict);
        }
        if let Some(root) = root.as_object_mut() {
            root.insert("$defs".to_owned(), Value::Object(strict_defs));
        }
    }
    let mut problems = writer.problems;
    if truncated {
        problems.push(limits::too_deep(name));
    }
    // Sizes mean nothing while places are missing.
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

/// The writing of one schema, with the places that were refused.
struct Writer<'a> {
    defs: Option<&'a Node>,
    problems: Vec<StrictProblem>,
}

impl Writer<'_> {
    /// Notes a place that cannot be expressed. The writing goes on, to find them all.
    fn refuse(&mut self, path: &str, (what, remedy): (&'static str, &'static str)) -> Value {
        self.problems.push(StrictProblem {
            path: path.to_owned(),
            what,
            remedy,
        });
        json!({})
    }

    /// Writes one schema. What it is decides first: several things at once, a
    /// condition, a reference, a union, or a type.
    fn schema(&mut self, schema: &Value, path: &str) -> Value {
        const SHAPES: [&str; 7] = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "properties",
            "items",
            "prefixItems",
        ];
        let Some(node) = schema.as_object() else {
            return self.refuse(path, ANY);
        };
        let shapes = SHAPES.iter().filter(|key| node.contains_key(**key)).count();
        let is_reference_or_union = node.contains_key("$ref") || branches(node).is_some();
        if node.contains_key("allOf") || (shapes > 1 && is_reference_or_union) {
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
        let mut out = Node::new();
        for (key, value) in node {
            if SUPPORTED.contains(&key.as_str()) && !is_unsupported_pattern(key, value) {
                out.insert(key.clone(), value.clone());
            }
        }
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

    /// A union has no constraints beside it.
    fn union(&mut self, node: &Node, list: &[Value], path: &str) -> Value {
        let has_both = node.contains_key("anyOf") && node.contains_key("oneOf");
        let constrains = node
            .keys()
            .any(|key| key != "anyOf" && key != "oneOf" && !is_annotation(key));
        if has_both || constrains {
            return self.refuse(path, MIXED);
        }
        if list.is_empty() {
            return self.refuse(path, ANY);
        }
        let mut out = Node::new();
        if let Some(description) = node.get("description") {
            out.insert("description".to_owned(), description.clone());
        }
        let mut forms = Vec::with_capacity(list.len());
        for form in list {
            forms.push(self.schema(form, path));
        }
        out.insert("anyOf".to_owned(), Value::Array(forms));
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

    /// Closes an object. A property that may be left out becomes nullable instead.
    fn object(&mut self, node: &Node, out: &mut Node, path: &str) {
        let no_properties = Node::new();
        let properties = match node.get("properties") {
            Some(Value::Object(properties)) => properties,
            _ => &no_properties,
        };
        if takes_free_members(node) {
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
        let all_names = strict.keys().cloned().map(Value::String).collect();
        out.insert("properties".to_owned(), Value::Object(strict));
        out.insert("required".to_owned(), Value::Array(all_names));
        out.insert("additionalProperties".to_owned(), json!(false));
    }

    /// A tuple can be written only if all of its items are of one type.
    fn array(&mut self, node: &Node, out: &mut Node, path: &str) {
        let item = match node.get("prefixItems") {
            Some(Value::Array(tuple)) => {
                let Some(item) = only_item(node, tuple) else {
                    self.refuse(path, TUPLE);
                    return;
                };
                Some(item)
            }
            _ => node.get("items"),
        };
        let item = self.schema(item.unwrap_or(&Value::Bool(true)), &format!("{path}[]"));
        out.insert("items".to_owned(), item);
    }
}

/// Whether members without names in the schema are allowed.
fn takes_free_members(node: &Node) -> bool {
    const KEYWORDS: [&str; 3] = [
        "additionalProperties",
        "unevaluatedProperties",
        "patternProperties",
    ];
    KEYWORDS.iter().any(|keyword| match node.get(*keyword) {
        Some(rest) => *rest != Value::Bool(false),
        None => false,
    })
}

/// The schema that all items of a tuple of fixed length have.
fn only_item<'n>(node: &Node, tuple: &'n [Value]) -> Option<&'n Value> {
    let length = json!(tuple.len());
    let is_fixed = node.get("minItems") == Some(&length) && node.get("maxItems") == Some(&length);
    let first = tuple.first()?;
    let is_uniform = tuple.iter().all(|item| item == first);
    (is_fixed && is_uniform).then_some(first)
}

/// The subset has no look-around.
fn is_unsupported_pattern(key: &str, value: &Value) -> bool {
    if key != "pattern" {
        return false;
    }
    match value.as_str() {
        Some(text) => ["(?=", "(?!", "(?<"].iter().any(|part| text.contains(part)),
        None => true,
    }
}

/// Says in the description what has no keyword.
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
    if let Some(pattern) = node.get("pattern")
        && pattern.is_string()
        && is_unsupported_pattern("pattern", pattern)
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
    let text = match out.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description} {notes}"),
        None => notes,
    };
    out.insert("description".to_owned(), Value::String(text));
}

/// Allows `null` as well: among the types where that is enough, else as one more form.
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
        Some(kind) if kind.is_string() && kind != "object" && kind != "array" => {
            *kind = json!([kind.take(), "null"]);
        }
        _ => {
            // It belongs to the property, not to one of its two forms.
            let description = node.shift_remove("description");
            let mut union = Node::new();
            if let Some(text) = description {
                union.insert("description".to_owned(), text);
            }
            union.insert("anyOf".to_owned(), json!([node, {"type": "null"}]));
            return Value::Object(union);
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.push(Value::Null);
    }
    Value::Object(node)
}
