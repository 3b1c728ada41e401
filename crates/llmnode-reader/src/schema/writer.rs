//! One writer of schemas that no server enforces: of outputs and of the parameters of tools alike.
//!
//! In comes the plain tree, whose root is an object. Out goes a schema of the same values, or of more: each object has
//! `properties`, each list `items`, each reference a definition with a plain name, and no keyword or key is left that the
//! [`Profile`] refuses. Answers and arguments are checked against the type when they come, so what a profile has no word for
//! is said in the description.
//!
//! A schema is written from the outside in; a definition when the first reference to it has been met, so that none is left
//! over. What the grammars of llama.cpp make of a schema decided several forms: it reads `{}` as "an object", an object of
//! `patternProperties` as `{}` alone, and pointers as they are spelt.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::normalize::reachable;
use super::profile::{Profile, is_plain};
use super::strict::describe;
use super::wire_names::{WireNames, name_in_words};
use super::{gemini, openapi};
use crate::check::target;
use crate::tree::{Node, has_type, is_annotation};

const TYPES: [&str; 7] = [
    "null", "boolean", "integer", "number", "string", "array", "object",
];
const ANY: &str = "any JSON value";
/// References to references to references.
const MOST_HOPS: usize = 64;
/// Of a keyword whose value is said in words.
const MOST_IN_WORDS: usize = 200;
/// Conditions: few servers read them, and some refuse them.
const CONDITIONS: [&str; 12] = [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "propertyNames",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "unevaluatedItems",
];
const NUMBERS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];
const COUNTS: [&str; 6] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

pub(super) fn written(tree: &Value, profile: Profile, names: Option<&WireNames>) -> Value {
    let mut writer = Writer {
        tree,
        profile,
        names,
        defs: Vec::new(),
        open: VecDeque::new(),
    };
    let mut root = writer.schema(tree, true);
    let mut defs = Vec::new();
    while let Some(at) = writer.open.pop_front() {
        let name = writer.defs[at].name.clone();
        let def = writer.defs[at].schema;
        let place = writer.place_of(def);
        defs.push((place, name, writer.schema(def, false)));
    }
    defs.sort_by_key(|(place, ..)| *place);
    // A form that allows anything swallows the others, with their references.
    let defs = reachable(
        &root,
        defs.into_iter().map(|(_, name, def)| (name, def)).collect(),
    );
    if let (Some(root), false) = (root.as_object_mut(), defs.is_empty()) {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    match profile {
        Profile::Gemini => gemini::rewrite(&mut root),
        Profile::OpenApi => root = openapi::parameters(&root),
        Profile::Output | Profile::Function | Profile::Anthropic => {}
    }
    root
}

/// A definition that some reference names.
struct Def<'t> {
    schema: &'t Value,
    name: String,
}

struct Writer<'t> {
    tree: &'t Value,
    profile: Profile,
    names: Option<&'t WireNames>,
    defs: Vec<Def<'t>>,
    /// Indices of those that are still to be written.
    open: VecDeque<usize>,
}

impl<'t> Writer<'t> {
    fn schema(&mut self, schema: &'t Value, is_root: bool) -> Value {
        let Some(node) = schema.as_object() else {
            return any();
        };
        let mut out = Node::new();
        let mut notes = Vec::new();
        for (keyword, value) in node {
            if let Some(reference) = value.as_str().filter(|_| keyword == "$ref") {
                self.reference(reference, &mut out);
            } else if !self.shape(keyword, value, node, &mut out) {
                self.limit(keyword, value, node, &mut out, &mut notes);
            }
        }
        if out.contains_key("$ref") {
            // Most readers ignore what stands beside it, and some refuse it.
            out.retain(|keyword, _| keyword == "$ref" || is_annotation(keyword));
        }
        let lists_values = out.contains_key("enum") || out.contains_key("const");
        if lists_values && (has_type(&out, "object") || has_type(&out, "array")) {
            // The values say it, and the type would have to name members and items.
            out.shift_remove("type");
        }
        if let Some(keys) = keys_in_words(node) {
            notes.push(keys.to_owned());
        }
        self.object(node, &mut out, is_root);
        self.array(node, &mut out, &mut notes);
        describe(&mut out, notes);
        if out.is_empty() {
            any()
        } else {
            Value::Object(out)
        }
    }

    fn schemas(&mut self, list: &'t [Value]) -> Vec<Value> {
        let possible = list.iter().filter(|one| **one != Value::Bool(false));
        possible.map(|one| self.schema(one, false)).collect()
    }

    /// A reference that leads nowhere allows anything.
    fn reference(&mut self, reference: &'t str, out: &mut Node) {
        let Some(schema) = self.definition(reference) else {
            return;
        };
        let known = self
            .defs
            .iter()
            .position(|def| std::ptr::eq(def.schema, schema));
        let at = known.unwrap_or_else(|| {
            let name = self.free_name(reference);
            self.defs.push(Def { schema, name });
            self.open.push_back(self.defs.len() - 1);
            self.defs.len() - 1
        });
        out.insert(
            "$ref".to_owned(),
            json!(format!("#/$defs/{}", self.defs[at].name)),
        );
    }

    /// `None`: there is none, or only references to each other.
    fn definition(&self, reference: &str) -> Option<&'t Value> {
        let first = target(self.tree, reference)?;
        let mut schema = first;
        for _ in 0..MOST_HOPS {
            let Some(next) = schema.get("$ref").and_then(Value::as_str) else {
                return Some(first);
            };
            schema = target(self.tree, next)?;
        }
        None
    }

    /// Some readers of pointers decode neither `%C3` nor `~1`.
    fn free_name(&self, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or(reference);
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') {
                c
            } else {
                '_'
            }
        };
        let base: String = last.chars().map(plain).take(60).collect();
        let base = if is_plain(&base) {
            base
        } else {
            "Type".to_owned()
        };
        let mut name = base.clone();
        let mut number = 2;
        while self.defs.iter().any(|def| def.name == name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }

    /// In the order of the plain dialect.
    fn place_of(&self, def: &Value) -> usize {
        let defs = self
            .tree
            .get("$defs")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Node::values);
        defs.into_iter()
            .position(|one| std::ptr::eq(one, def))
            .unwrap_or(usize::MAX)
    }

    /// Writes a keyword that gives a value its shape. False: it is another one.
    fn shape(
        &mut self,
        keyword: &'t str,
        value: &'t Value,
        node: &'t Node,
        out: &mut Node,
    ) -> bool {
        let written = match (keyword, value) {
            ("type", _) => types(value),
            ("properties", Value::Object(members)) => Some(self.properties(members)),
            ("required", Value::Array(names)) => Some(self.required(names, node)),
            ("additionalProperties", _) if node.contains_key("patternProperties") => None,
            ("additionalProperties" | "unevaluatedProperties", Value::Bool(_)) => {
                Some(value.clone())
            }
            ("additionalProperties" | "unevaluatedProperties", _) => {
                Some(self.free_members(&[value]))
            }
            ("patternProperties", Value::Object(patterns)) => Some(self.by_pattern(patterns, node)),
            ("allOf", _) if self.profile == Profile::Gemini => None,
            ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => Some(self.schemas(list))
                .filter(|list| !list.is_empty())
                .map(Value::Array),
            ("items" | "prefixItems", _) => Some(self.items(node)),
            ("enum", Value::Array(values)) => Some(value.clone()).filter(|_| !values.is_empty()),
            ("const", _) => Some(value.clone()),
            (
                "$defs" | "definitions" | "$anchor" | "$dynamicAnchor" | "$dynamicRef"
                | "$vocabulary",
                _,
            )
            | ("additionalItems" | "properties" | "required" | "patternProperties", _)
            | ("anyOf" | "oneOf" | "allOf" | "enum" | "$ref", _) => None,
            _ => return false,
        };
        let keyword = match keyword {
            "prefixItems" => "items",
            "patternProperties" | "unevaluatedProperties" => "additionalProperties",
            keyword => keyword,
        };
        if let Some(written) = written {
            out.insert(keyword.to_owned(), written);
        }
        true
    }

    /// Writes a keyword that narrows or describes a value, or what it says into the notes.
    fn limit(
        &self,
        keyword: &str,
        value: &Value,
        node: &Node,
        out: &mut Node,
        notes: &mut Vec<String>,
    ) {
        let is_kept = match keyword {
            _ if CONDITIONS.contains(&keyword) => false,
            "description" | "format" if !value.is_string() => return,
            "pattern" => match value.as_str() {
                Some(pattern) => self.profile.takes_pattern(pattern),
                None => return,
            },
            _ if NUMBERS.contains(&keyword) && !is_readable(value, node) => return,
            _ if COUNTS.contains(&keyword) && value.as_u64().is_none() => return,
            _ => true,
        };
        if is_kept && self.profile.takes_keyword(keyword) {
            out.insert(keyword.to_owned(), value.clone());
        } else if !is_silent(keyword, value) {
            notes.push(format!("{keyword}: {value}"));
        }
    }

    fn properties(&mut self, members: &'t Node) -> Value {
        let mut written = Node::new();
        for (key, schema) in members
            .iter()
            .filter(|(_, schema)| **schema != Value::Bool(false))
        {
            let mut property = self.schema(schema, false);
            let name = self.wire_name(key);
            if name != key {
                name_in_words(&mut property, key);
            }
            written.insert(name.to_owned(), property);
        }
        Value::Object(written)
    }

    fn required(&self, names: &[Value], node: &Node) -> Value {
        let members = node.get("properties").and_then(Value::as_object);
        let names = names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name: &&str| {
                members
                    .and_then(|members| members.get(*name))
                    .is_none_or(|schema| *schema != Value::Bool(false))
            });
        Value::Array(names.map(|name| json!(self.wire_name(name))).collect())
    }

    fn wire_name<'n>(&self, key: &'n str) -> &'n str
    where
        't: 'n,
    {
        self.names.and_then(|names| names.wire(key)).unwrap_or(key)
    }

    fn free_members(&mut self, forms: &[&'t Value]) -> Value {
        let mut written: Vec<Value> = Vec::new();
        for form in forms {
            let form = self.schema(form, false);
            if form == any() {
                return Value::Bool(true);
            }
            if !written.contains(&form) {
                written.push(form);
            }
        }
        one_of(written)
    }

    /// Names by a pattern, as maps with integer keys have: any name, which is checked when it is read.
    fn by_pattern(&mut self, patterns: &'t Node, node: &'t Node) -> Value {
        let mut forms: Vec<&Value> = patterns.values().collect();
        match node.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            Some(rest) => forms.push(rest),
            None => return Value::Bool(true),
        }
        self.free_members(&forms)
    }

    /// Of a tuple, any of its items at any place; which is where is said in words.
    fn items(&mut self, node: &'t Node) -> Value {
        let Some(tuple) = Tuple::of(node) else {
            return match node.get("items") {
                Some(items) if *items != Value::Bool(false) => self.schema(items, false),
                _ => any(),
            };
        };
        let rest = tuple.rest.filter(|_| !tuple.is_closed(node));
        let is_free = rest.is_none() && !tuple.is_closed(node);
        let mut forms = Vec::new();
        for item in tuple.places.iter().chain(rest) {
            let item = self.schema(item, false);
            if !forms.contains(&item) {
                forms.push(item);
            }
        }
        if is_free || forms.contains(&any()) {
            any()
        } else {
            one_of(forms)
        }
    }

    fn object(&mut self, node: &Node, out: &mut Node, is_root: bool) {
        let is_combined = ["$ref", "allOf"]
            .iter()
            .any(|keyword| out.contains_key(*keyword));
        let names_members =
            out.contains_key("properties") || out.contains_key("additionalProperties");
        let has_values = ["enum", "const", "anyOf", "oneOf"]
            .iter()
            .any(|keyword| out.contains_key(*keyword));
        if names_members && !has_values && !is_combined && !out.contains_key("type") {
            out.insert("type".to_owned(), json!("object"));
        }
        if !has_type(out, "object") || is_combined {
            return;
        }
        if !out.contains_key("properties") {
            // Without a word on others, a grammar would allow `{}` alone. For a tool without parameters that is right.
            let is_map = out.contains_key("additionalProperties") || is_root || has_values;
            out.insert("properties".to_owned(), json!({}));
            if !is_map {
                out.insert("additionalProperties".to_owned(), json!(true));
            }
        }
        let Some(Value::Object(properties)) = out.get_mut("properties") else {
            return;
        };
        let given = node.get("properties").and_then(Value::as_object);
        let required = node
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for name in required.filter_map(Value::as_str) {
            if given.is_none_or(|given| !given.contains_key(name)) {
                properties.insert(self.wire_name(name).to_owned(), any());
            }
        }
    }

    fn array(&self, node: &Node, out: &mut Node, notes: &mut Vec<String>) {
        let has_values = ["enum", "const", "anyOf", "oneOf", "allOf", "$ref"].iter();
        let has_values = has_values
            .into_iter()
            .any(|keyword| out.contains_key(*keyword));
        if out.contains_key("items") && !out.contains_key("type") && !has_values {
            out.insert("type".to_owned(), json!("array"));
        }
        if !has_type(out, "array") {
            return;
        }
        if !out.contains_key("items") {
            out.insert("items".to_owned(), any());
        }
        let Some(tuple) = Tuple::of(node) else {
            if node.get("items") == Some(&Value::Bool(false)) {
                out.insert("maxItems".to_owned(), json!(0));
            }
            return;
        };
        let count = tuple.places.len();
        if tuple.is_closed(node) && self.profile.takes_keyword("maxItems") {
            let most = node
                .get("maxItems")
                .and_then(Value::as_u64)
                .unwrap_or(u64::MAX);
            out.insert("maxItems".to_owned(), json!(most.min(count as u64)));
        }
        if !tuple.is_uniform() {
            let places: Vec<String> = tuple.places.iter().map(kind_in_words).collect();
            notes.push(format!("items in this order: {}", places.join(", ")));
        }
    }
}

/// Items that have their places, in the words of any draft of JSON Schema.
struct Tuple<'t> {
    places: &'t [Value],
    rest: Option<&'t Value>,
}

impl<'t> Tuple<'t> {
    fn of(node: &'t Node) -> Option<Self> {
        match (node.get("prefixItems"), node.get("items")) {
            (Some(Value::Array(places)), rest) if !places.is_empty() => {
                Some(Tuple { places, rest })
            }
            (_, Some(Value::Array(places))) if !places.is_empty() => Some(Tuple {
                places,
                rest: node.get("additionalItems"),
            }),
            _ => None,
        }
    }

    fn is_closed(&self, node: &Node) -> bool {
        let most = node.get("maxItems").and_then(Value::as_u64);
        self.rest == Some(&Value::Bool(false))
            || most.is_some_and(|most| most <= self.places.len() as u64)
    }

    fn is_uniform(&self) -> bool {
        self.places.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// Not `{}`, which llama.cpp reads as an object.
fn any() -> Value {
    json!({"description": ANY})
}

fn one_of(mut forms: Vec<Value>) -> Value {
    match forms.len() {
        0 => any(),
        1 => forms.remove(0),
        _ => json!({"anyOf": forms}),
    }
}

fn types(value: &Value) -> Option<Value> {
    let is_known = |kind: &&Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match value {
        Value::Array(kinds) => {
            let mut known: Vec<Value> = Vec::new();
            for kind in kinds.iter().filter(is_known) {
                if !known.contains(kind) {
                    known.push(kind.clone());
                }
            }
            Some(Value::Array(known))
                .filter(|known| known.as_array().is_some_and(|known| !known.is_empty()))
        }
        kind => Some(kind.clone()).filter(|kind| is_known(&kind)),
    }
}

/// llama.cpp reads the bounds of integers as 64 bits with a sign.
fn is_readable(bound: &Value, node: &Node) -> bool {
    bound.is_number()
        && (bound.is_i64()
            || !has_type(node, "integer")
            || bound.as_f64().is_some_and(|bound| bound.abs() < 9e18))
}

/// What says nothing, or is for no model.
fn is_silent(keyword: &str, value: &Value) -> bool {
    let is_note = is_annotation(keyword) && keyword != "default";
    is_note || value.is_null() || value.to_string().len() > MOST_IN_WORDS
}

/// Of a map with integer keys, by the patterns that schemars writes.
fn keys_in_words(node: &Node) -> Option<&'static str> {
    let patterns = node.get("patternProperties")?.as_object()?;
    (!patterns.is_empty()
        && patterns
            .keys()
            .all(|pattern: &String| matches!(pattern.as_str(), r"^\d+$" | r"^-?\d+$")))
    .then_some("each key is a whole number")
}

fn kind_in_words(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "value".to_owned(),
    }
}
