//! One writer of schemas that no server enforces: of outputs and of the parameters of tools alike.
//!
//! In comes the plain tree, whose root is an object. Out goes a schema of the same
//! values, or of more: each object has `properties`, each list `items`, each
//! reference a definition with a plain name, and no keyword or key is left that the
//! [`Profile`] refuses. Answers and arguments are checked against the type when they come, so what a profile has no word for
//! is said in the description.
//!
//! A schema is written from the outside in; a definition when the first reference
//! to it has been met, so that none is left over. What the grammars of llama.cpp
//! make of a schema decided several forms: it reads `{}` as "an object", an object
//! of `patternProperties` as `{}` alone, and pointers as they are spelt.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::kinds::is_type_name;
use super::normalize::reachable;
use super::profile::{Profile, is_plain, is_plain_char};
use super::strict::describe;
use super::wire_names::{WireNames, name_in_words};
use super::{gemini, openapi};
use crate::check::target;
use crate::tree::{Node, has_type, is_annotation};

/// Keywords that say of a value's shape what is written elsewhere, or nothing where
/// they are malformed.
const OF_SHAPE: [&str; 15] = [
    "$defs",
    "definitions",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$vocabulary",
    "additionalItems",
    "properties",
    "required",
    "patternProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "enum",
    "$ref",
];
/// What a description says of a place where anything may stand.
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
/// Bounds of numbers.
const NUMBERS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];
/// Bounds of lengths.
const COUNTS: [&str; 6] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// The schema as the profile takes it. `names`: what stands for names that it refuses.
pub(super) fn written(tree: &Value, profile: Profile, names: Option<&WireNames>) -> Value {
    let mut writer = Writer {
        tree,
        profile,
        names,
        defs: Vec::new(),
        open: VecDeque::new(),
    };
    let mut root = writer.schema(tree, true);
    let mut written_defs = Vec::new();
    while let Some(index) = writer.open.pop_front() {
        let name = writer.defs[index].name.clone();
        let schema = writer.defs[index].schema;
        written_defs.push(WrittenDef {
            place: writer.place_of(schema),
            name,
            schema: writer.schema(schema, false),
        });
    }
    written_defs.sort_by_key(|def| def.place);
    let mut defs = Node::new();
    for def in written_defs {
        defs.insert(def.name, def.schema);
    }
    // A form that allows anything swallows the others, with their references.
    let defs = reachable(&root, defs);
    if !defs.is_empty()
        && let Some(root) = root.as_object_mut()
    {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    match profile {
        Profile::Gemini => gemini::rewrite(&mut root),
        Profile::OpenApi => root = openapi::parameters(&root),
        Profile::Output | Profile::Function | Profile::Anthropic => {}
    }
    root
}

/// A definition that was written.
struct WrittenDef {
    /// Its place in the plain dialect, whose order is kept.
    place: usize,
    name: String,
    schema: Value,
}

/// A definition that some reference names.
struct Def<'t> {
    schema: &'t Value,
    name: String,
}

/// The writing of one schema.
struct Writer<'t> {
    tree: &'t Value,
    profile: Profile,
    names: Option<&'t WireNames>,
    /// Those that were referred to, in the order of the references.
    defs: Vec<Def<'t>>,
    /// Indices of those that are still to be written.
    open: VecDeque<usize>,
}

impl<'t> Writer<'t> {
    /// Writes one schema: its keywords one by one, and then what an object or a list must not lack.
    fn schema(&mut self, schema: &'t Value, is_root: bool) -> Value {
        let Some(node) = schema.as_object() else {
            return any();
        };
        let mut out = Node::new();
        let mut notes = Vec::new();
        for (keyword, value) in node {
            if keyword == "$ref"
                && let Value::String(reference) = value
            {
                self.reference(reference, &mut out);
                continue;
            }
            let gives_shape = self.shape(keyword, value, node, &mut out);
            if !gives_shape {
                self.limit(keyword, value, node, &mut out, &mut notes);
            }
        }
        if out.contains_key("$ref") {
            // Most readers ignore what stands beside it, and some refuse it.
            out.retain(|keyword, _| keyword == "$ref" || is_annotation(keyword));
        }
        let lists_values = out.contains_key("enum") || out.contains_key("const");
        let is_container = has_type(&out, "object") || has_type(&out, "array");
        if lists_values && is_container {
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

    /// Those that some value can be of.
    fn schemas(&mut self, list: &'t [Value]) -> Vec<Value> {
        let mut schemas = Vec::new();
        for schema in list {
            if *schema != Value::Bool(false) {
                schemas.push(self.schema(schema, false));
            }
        }
        schemas
    }

    /// A reference that leads nowhere allows anything.
    fn reference(&mut self, reference: &'t str, out: &mut Node) {
        let Some(schema) = self.definition(reference) else {
            return;
        };
        let referred = self
            .defs
            .iter()
            .position(|def| std::ptr::eq(def.schema, schema));
        let index = match referred {
            Some(index) => index,
            None => {
                let name = self.free_name(reference);
                let index = self.defs.len();
                self.defs.push(Def { schema, name });
                self.open.push_back(index);
                index
            }
        };
        let pointer = format!("#/$defs/{}", self.defs[index].name);
        out.insert("$ref".to_owned(), json!(pointer));
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
        const LONGEST: usize = 60;
        let last = reference.rsplit('/').next().unwrap_or(reference);
        let mut base = String::new();
        for c in last.chars().take(LONGEST) {
            base.push(if is_plain_char(c) { c } else { '_' });
        }
        if !is_plain(&base) {
            base = "Type".to_owned();
        }
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
        let Some(Value::Object(defs)) = self.tree.get("$defs") else {
            return usize::MAX;
        };
        defs.values()
            .position(|other| std::ptr::eq(other, def))
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
            // `by_pattern` has looked at it.
            ("additionalProperties", _) if node.contains_key("patternProperties") => None,
            ("additionalProperties" | "unevaluatedProperties", Value::Bool(_)) => {
                Some(value.clone())
            }
            ("additionalProperties" | "unevaluatedProperties", _) => {
                Some(self.free_members(&[value]))
            }
            ("patternProperties", Value::Object(patterns)) => Some(self.by_pattern(patterns, node)),
            ("allOf", _) if self.profile == Profile::Gemini => None,
            ("anyOf" | "oneOf" | "allOf", Value::Array(list)) => {
                let forms = self.schemas(list);
                (!forms.is_empty()).then_some(Value::Array(forms))
            }
            ("items" | "prefixItems", _) => Some(self.items(node)),
            ("enum", Value::Array(values)) => (!values.is_empty()).then(|| value.clone()),
            ("const", _) => Some(value.clone()),
            _ if OF_SHAPE.contains(&keyword) => None,
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

    /// The members that an answer can have, by the names of the wire.
    fn properties(&mut self, members: &'t Node) -> Value {
        let mut properties = Node::new();
        for (key, schema) in members {
            if *schema == Value::Bool(false) {
                continue;
            }
            let mut property = self.schema(schema, false);
            let name = self.wire_name(key);
            if name != key {
                name_in_words(&mut property, key);
            }
            properties.insert(name.to_owned(), property);
        }
        Value::Object(properties)
    }

    /// The required members, without those that an answer cannot have.
    fn required(&self, names: &[Value], node: &Node) -> Value {
        let members = node.get("properties").and_then(Value::as_object);
        let mut required = Vec::new();
        for name in names.iter().filter_map(Value::as_str) {
            let schema = members.and_then(|members| members.get(name));
            if schema != Some(&Value::Bool(false)) {
                required.push(json!(self.wire_name(name)));
            }
        }
        Value::Array(required)
    }

    /// The name that the API takes for a member.
    fn wire_name<'n>(&self, key: &'n str) -> &'n str
    where
        't: 'n,
    {
        self.names.and_then(|names| names.wire(key)).unwrap_or(key)
    }

    /// What members without names may be. Of forms that are the same, one.
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

    /// Names by a pattern, as maps with integer keys have: any name, which is
    /// checked when it is read.
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
        let Some(tuple) = Tuple::from_node(node) else {
            return match node.get("items") {
                Some(items) if *items != Value::Bool(false) => self.schema(items, false),
                _ => any(),
            };
        };
        let is_closed = tuple.is_closed(node);
        let rest = if is_closed { None } else { tuple.rest };
        // Written in any case, as this is where the definitions that they refer to get their names.
        let mut forms = Vec::new();
        for item in tuple.places.iter().chain(rest) {
            let item = self.schema(item, false);
            if !forms.contains(&item) {
                forms.push(item);
            }
        }
        let is_free = rest.is_none() && !is_closed;
        if is_free || forms.contains(&any()) {
            return any();
        }
        one_of(forms)
    }

    /// Gives an object the keywords that readers miss: its type, `properties`, and
    /// a property for each required name.
    fn object(&mut self, node: &Node, out: &mut Node, is_root: bool) {
        let is_combined = has_any(out, &["$ref", "allOf"]);
        let has_values = has_any(out, &["enum", "const", "anyOf", "oneOf"]);
        let names_members = has_any(out, &["properties", "additionalProperties"]);
        let is_untyped = !has_values && !is_combined && !out.contains_key("type");
        if names_members && is_untyped {
            out.insert("type".to_owned(), json!("object"));
        }
        if !has_type(out, "object") || is_combined {
            return;
        }
        if !out.contains_key("properties") {
            // Without a word on others, a grammar would allow `{}` alone. For a
            // tool without parameters that is right.
            let is_map = out.contains_key("additionalProperties") || is_root || has_values;
            out.insert("properties".to_owned(), json!({}));
            if !is_map {
                out.insert("additionalProperties".to_owned(), json!(true));
            }
        }
        let Some(Value::Object(properties)) = out.get_mut("properties") else {
            return;
        };
        let Some(Value::Array(required)) = node.get("required") else {
            return;
        };
        let members = node.get("properties").and_then(Value::as_object);
        for name in required.iter().filter_map(Value::as_str) {
            let has_schema = members.is_some_and(|members| members.contains_key(name));
            if !has_schema {
                properties.insert(self.wire_name(name).to_owned(), any());
            }
        }
    }

    /// Gives a list the keywords that readers miss: its type, `items`, and the length of a tuple.
    fn array(&self, node: &Node, out: &mut Node, notes: &mut Vec<String>) {
        let has_values = has_any(out, &["enum", "const", "anyOf", "oneOf", "allOf", "$ref"]);
        if out.contains_key("items") && !out.contains_key("type") && !has_values {
            out.insert("type".to_owned(), json!("array"));
        }
        if !has_type(out, "array") {
            return;
        }
        if !out.contains_key("items") {
            out.insert("items".to_owned(), any());
        }
        let Some(tuple) = Tuple::from_node(node) else {
            if node.get("items") == Some(&Value::Bool(false)) {
                out.insert("maxItems".to_owned(), json!(0));
            }
            return;
        };
        if tuple.is_closed(node) && self.profile.takes_keyword("maxItems") {
            let count = tuple.places.len() as u64;
            let stated = node.get("maxItems").and_then(Value::as_u64);
            let most = stated.unwrap_or(u64::MAX).min(count);
            out.insert("maxItems".to_owned(), json!(most));
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
    fn from_node(node: &'t Node) -> Option<Self> {
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

    /// Whether no item follows those that have their places.
    fn is_closed(&self, node: &Node) -> bool {
        if self.rest == Some(&Value::Bool(false)) {
            return true;
        }
        match node.get("maxItems").and_then(Value::as_u64) {
            Some(most) => most <= self.places.len() as u64,
            None => false,
        }
    }

    /// Whether the places need no words, as any item may stand at each.
    fn is_uniform(&self) -> bool {
        self.places.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// Not `{}`, which llama.cpp reads as an object.
fn any() -> Value {
    json!({"description": ANY})
}

fn has_any(node: &Node, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| node.contains_key(*keyword))
}

/// Any of these forms.
fn one_of(mut forms: Vec<Value>) -> Value {
    match forms.len() {
        0 => any(),
        1 => forms.remove(0),
        _ => json!({"anyOf": forms}),
    }
}

/// The types that JSON has, each once. `None`: there is none among them.
fn types(value: &Value) -> Option<Value> {
    let Value::Array(kinds) = value else {
        return is_type_name(value).then(|| value.clone());
    };
    let mut types: Vec<Value> = Vec::new();
    for kind in kinds {
        if is_type_name(kind) && !types.contains(kind) {
            types.push(kind.clone());
        }
    }
    if types.is_empty() {
        return None;
    }
    Some(Value::Array(types))
}

/// llama.cpp reads the bounds of integers as 64 bits with a sign.
fn is_readable(bound: &Value, node: &Node) -> bool {
    if !bound.is_number() {
        return false;
    }
    if bound.is_i64() || !has_type(node, "integer") {
        return true;
    }
    bound.as_f64().is_some_and(|bound| bound.abs() < 9e18)
}

/// What says nothing, or is for no model.
fn is_silent(keyword: &str, value: &Value) -> bool {
    let is_note = is_annotation(keyword) && keyword != "default";
    is_note || value.is_null() || value.to_string().len() > MOST_IN_WORDS
}

/// Of a map with integer keys, by the patterns that schemars writes.
fn keys_in_words(node: &Node) -> Option<&'static str> {
    let patterns = node.get("patternProperties")?.as_object()?;
    if patterns.is_empty() {
        return None;
    }
    let are_integers = patterns
        .keys()
        .all(|pattern| matches!(pattern.as_str(), r"^\d+$" | r"^-?\d+$"));
    are_integers.then_some("each key is a whole number")
}

/// A place of a tuple: the name of its definition, or its type.
fn kind_in_words(schema: &Value) -> String {
    if let Some(Value::String(reference)) = schema.get("$ref") {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return name.to_owned();
    }
    match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let names: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        _ => "value".to_owned(),
    }
}
