//! Merges conjunctions. serde's `flatten` and internally tagged variants come as
//! properties beside a `$ref`, a union or an `allOf`; many readers of schemas look
//! at one of the two and forget the other.
//!
//! What two schemas say together becomes one object: a reference is written out
//! (`inlined`), a union is merged form by form (`distributed`), two objects keyword
//! by keyword (`objects`). Where that cannot say both, the conjunction stays as it
//! was (`None`): a dialect that cannot express it refuses it with a reason.
//!
//! The product of unions grows fast, and definitions may contain each other, so the
//! work is bounded on all sides. The order of members is kept, since a model
//! answers in it.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::depth::{MAX_DEPTH, size};
use crate::tree::{Node, branches, children_mut, def_name, is_annotation};

/// More than any real type has; bounds the product of several unions.
const MAX_BRANCHES: usize = 256;
/// Per schema: nested inlining of definitions must not explode.
const MAX_MERGES: usize = 10_000;
/// Values in what is copied.
const MAX_COPIED: usize = 200_000;
/// Definitions within definitions.
const MAX_INLINED: usize = 32;

/// The merging of one schema and its definitions.
pub(super) struct Merger<'a> {
    defs: &'a Node,
    /// Ends the inlining of a definition that contains itself beside constraints.
    inlining: Vec<String>,
    merges: usize,
    copied: usize,
    depth: usize,
}

impl<'a> Merger<'a> {
    pub(super) fn new(defs: &'a Node) -> Self {
        Merger {
            defs,
            inlining: Vec::new(),
            merges: 0,
            copied: 0,
            depth: 0,
        }
    }

    /// The schema with all conjunctions in it merged, from the inside out.
    pub(super) fn simplify(&mut self, schema: Value) -> Value {
        if self.depth > MAX_DEPTH {
            return schema;
        }
        self.depth += 1;
        let simple = self.simplified(schema);
        self.depth -= 1;
        simple
    }

    /// From the inside out: what is merged into an object must be merged itself.
    fn simplified(&mut self, schema: Value) -> Value {
        let Value::Object(mut node) = schema else {
            return schema;
        };
        for (_, child) in children_mut(&mut node) {
            *child = self.simplify(child.take());
        }
        let mut node = match self.conjunction(&node) {
            Some(merged) => merged,
            None => node,
        };
        close(&mut node);
        constants(&mut node);
        Value::Object(node)
    }

    /// What a schema says by several parts, as one object. `None`: it has only one,
    /// or they cannot be merged.
    fn conjunction(&mut self, node: &Node) -> Option<Node> {
        let mut rest = Node::new();
        let mut constrains = false;
        for (key, value) in node {
            if !PARTS.contains(&key.as_str()) {
                constrains |= !is_annotation(key);
                rest.insert(key.clone(), value.clone());
            }
        }
        let parts = PARTS.iter().filter(|key| node.contains_key(**key)).count();
        let is_single = parts == 1 && !constrains && !node.contains_key("allOf");
        if parts == 0 || is_single {
            return None;
        }
        let mut all = rest;
        if let Some(Value::Array(members)) = node.get("allOf") {
            for member in members {
                let member = member.as_object()?.clone();
                all = self.both(all, member)?;
            }
        }
        for key in ["$ref", "anyOf", "oneOf"] {
            if let Some(value) = node.get(key) {
                let part = Node::from_iter([(key.to_owned(), value.clone())]);
                all = self.both(all, part)?;
            }
        }
        Some(all)
    }

    /// Members of `first` come first. `None`: one object cannot express both.
    fn both(&mut self, first: Node, second: Node) -> Option<Node> {
        self.merges += 1;
        if self.merges > MAX_MERGES || self.copied > MAX_COPIED {
            return None;
        }
        if first.keys().all(|key| is_annotation(key)) {
            return Some(annotated(second, first));
        }
        for (node, other, leads) in [(&first, &second, true), (&second, &first, false)] {
            if node.contains_key("$ref") {
                return self.inlined(node, other, leads);
            }
            if let Some(list) = branches(node) {
                return self.distributed(node, list, other, leads);
            }
        }
        if first.contains_key("allOf") || second.contains_key("allOf") {
            return None;
        }
        self.objects(first, second)
    }

    /// Merges a reference with the other, by the definition that it leads to.
    /// `leads`: the reference comes first.
    fn inlined(&mut self, node: &Node, other: &Node, leads: bool) -> Option<Node> {
        let reference = node.get("$ref")?.as_str()?;
        let name = def_name(reference)?.into_owned();
        if self.inlining.contains(&name) || self.inlining.len() >= MAX_INLINED {
            return None;
        }
        let definition = self.defs.get(&name)?;
        self.copied += size(definition);
        let definition = definition.clone();
        self.inlining.push(name);
        let simple = self.simplify(definition);
        let beside = without(node, "$ref");
        let merged = match simple {
            Value::Object(simple) if leads => self.both(annotated(simple, beside), other.clone()),
            Value::Object(simple) => self.both(other.clone(), annotated(simple, beside)),
            _ => None,
        };
        self.inlining.pop();
        merged
    }

    /// Merges each form of a union with the other. Descriptions of the other belong to the union.
    fn distributed(
        &mut self,
        node: &Node,
        list: &[Value],
        other: &Node,
        leads: bool,
    ) -> Option<Node> {
        let key = if node.contains_key("anyOf") {
            "anyOf"
        } else {
            "oneOf"
        };
        let beside = without(node, key);
        if !beside.keys().all(|key| is_annotation(key)) {
            return None;
        }
        let mut annotations = Node::new();
        let mut constraints = Node::new();
        for (key, value) in other {
            if is_annotation(key) {
                annotations.insert(key.clone(), value.clone());
            } else {
                constraints.insert(key.clone(), value.clone());
            }
        }
        let size_of_constraints: usize = constraints.values().map(size).sum();
        self.copied += list.len() * size_of_constraints;
        let mut merged = Vec::new();
        for form in list {
            let form = form.as_object()?.clone();
            let both = if leads {
                self.both(form, constraints.clone())?
            } else {
                self.both(constraints.clone(), form)?
            };
            // A form that became a union is several forms.
            match branches(&both) {
                Some(inner) => merged.extend(inner.iter().cloned()),
                None => merged.push(Value::Object(both)),
            }
            if merged.len() > MAX_BRANCHES {
                return None;
            }
        }
        let mut union = Node::from_iter([(key.to_owned(), Value::Array(merged))]);
        union.extend(beside);
        Some(annotated(union, annotations))
    }

    /// Merges keyword by keyword. Two bounds that differ cannot be merged: it would
    /// take knowing each keyword.
    fn objects(&mut self, mut first: Node, second: Node) -> Option<Node> {
        for (key, theirs) in second {
            let Some(ours) = first.get_mut(&key) else {
                first.insert(key, theirs);
                continue;
            };
            if *ours == theirs || is_annotation(&key) {
                continue;
            }
            match (key.as_str(), ours, theirs) {
                ("required", Value::Array(ours), Value::Array(theirs)) => {
                    let present: HashSet<Value> = ours.iter().cloned().collect();
                    for name in theirs {
                        if !present.contains(&name) {
                            ours.push(name);
                        }
                    }
                }
                ("properties", Value::Object(ours), Value::Object(theirs)) => {
                    self.properties(ours, theirs)?;
                }
                // The tag of a variant with `deny_unknown_fields` is outside its
                // content: properties are united, and closed if either side was.
                ("additionalProperties" | "unevaluatedProperties", ours, Value::Bool(false)) => {
                    *ours = json!(false);
                }
                ("additionalProperties" | "unevaluatedProperties", Value::Bool(false), _) => {}
                _ => return None,
            }
        }
        Some(first)
    }

    /// Unites the properties of both. One that both have must be of both.
    fn properties(&mut self, ours: &mut Node, theirs: Node) -> Option<()> {
        for (name, theirs) in theirs {
            let merged = match (ours.get(&name), theirs) {
                (None, theirs) => theirs,
                (Some(ours), theirs) if *ours == theirs => continue,
                (Some(Value::Object(ours)), Value::Object(theirs)) => {
                    Value::Object(self.both(ours.clone(), theirs)?)
                }
                _ => return None,
            };
            ours.insert(name, merged);
        }
        Some(())
    }
}

/// Keywords that apply another schema to the same value.
const PARTS: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// All keywords but this one.
fn without(node: &Node, key: &str) -> Node {
    let mut rest = node.clone();
    rest.shift_remove(key);
    rest
}

/// With the descriptions that are written around it: they say more of the place.
fn annotated(mut node: Node, over: Node) -> Node {
    node.extend(over);
    node
}

/// Makes one keyword of two. They differ only beside others, which are merged by now.
fn close(node: &mut Node) {
    let is_beside_others =
        node.contains_key("if") || PARTS.iter().any(|key| node.contains_key(*key));
    if is_beside_others {
        return;
    }
    if let Some(rest) = node.shift_remove("unevaluatedProperties") {
        node.entry("additionalProperties").or_insert(rest);
    }
}

/// A union of constant strings becomes one `enum`, whose description lists the variants' docs.
fn constants(node: &mut Node) {
    let Some(list) = branches(node) else { return };
    if !has_only(node, &["anyOf", "oneOf", "type"]) {
        return;
    }
    let mut values: Vec<Value> = Vec::new();
    let mut present: HashSet<Value> = HashSet::new();
    let mut description = Vec::new();
    if let Some(Value::String(text)) = node.get("description") {
        description.push(text.clone());
    }
    for form in list {
        let Some(form) = form.as_object() else {
            return;
        };
        let Some(names) = constant_strings(form) else {
            return;
        };
        if let Some(Value::String(text)) = form.get("description") {
            description.push(format!("- {}: {text}", names.join(", ")));
        }
        for name in names {
            let value = json!(name);
            if present.insert(value.clone()) {
                values.push(value);
            }
        }
    }
    if values.is_empty() {
        return;
    }
    node.retain(|key, _| key != "anyOf" && key != "oneOf");
    node.insert("type".to_owned(), json!("string"));
    node.insert("enum".to_owned(), Value::Array(values));
    if !description.is_empty() {
        let text = description.join("\n");
        node.insert("description".to_owned(), Value::String(text));
    }
}

/// The strings that a form allows, if it allows nothing else.
fn constant_strings(form: &Node) -> Option<Vec<&str>> {
    let is_other_type = form.get("type").is_some_and(|kind| kind != "string");
    if is_other_type || !has_only(form, &["type", "const", "enum"]) {
        return None;
    }
    match (form.get("const"), form.get("enum")) {
        (Some(value), None) => Some(vec![value.as_str()?]),
        (None, Some(Value::Array(values))) => values.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// Whether it has no keywords but these and annotations.
fn has_only(node: &Node, keywords: &[&str]) -> bool {
    node.keys()
        .all(|key| keywords.contains(&key.as_str()) || is_annotation(key))
}
