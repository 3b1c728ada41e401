//! Merges conjunctions. serde's `flatten` and internally tagged variants come as properties beside a `$ref`, a union or an
//! `allOf`; many readers of schemas look at one of the two and forget the other.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::depth::{MAX_DEPTH, size};
use crate::tree::{Node, branches, children_mut, def_name, is_annotation};

/// More than any real type has; bounds the product of several unions.
const MAX_BRANCHES: usize = 256;
/// Per schema: nested inlining of definitions must not explode.
const MAX_MERGES: usize = 10_000;
const MAX_COPIED: usize = 200_000;
const MAX_INLINED: usize = 32;

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

    pub(super) fn simplify(&mut self, schema: Value) -> Value {
        if self.depth > MAX_DEPTH {
            return schema;
        }
        self.depth += 1;
        let simple = self.simplified(schema);
        self.depth -= 1;
        simple
    }

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

    fn conjunction(&mut self, node: &Node) -> Option<Node> {
        let own = |key: &str| !matches!(key, "$ref" | "allOf" | "anyOf" | "oneOf");
        let constrains = node.keys().any(|key| own(key) && !is_annotation(key));
        let parts = ["$ref", "allOf", "anyOf", "oneOf"]
            .iter()
            .filter(|key| node.contains_key(**key))
            .count();
        if parts == 0 || (parts == 1 && !constrains && !node.contains_key("allOf")) {
            return None;
        }
        let mut all: Node = node
            .iter()
            .filter(|(key, _)| own(key))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        for member in node
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            all = self.both(all, member.as_object()?.clone())?;
        }
        for key in ["$ref", "anyOf", "oneOf"] {
            if let Some(value) = node.get(key) {
                all = self.both(all, Node::from_iter([(key.to_owned(), value.clone())]))?;
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

    fn inlined(&mut self, node: &Node, other: &Node, leads: bool) -> Option<Node> {
        let name = def_name(node.get("$ref")?.as_str()?)?.into_owned();
        if self.inlining.contains(&name) || self.inlining.len() >= MAX_INLINED {
            return None;
        }
        let def = self.defs.get(&name)?;
        self.copied += size(def);
        let def = def.clone();
        self.inlining.push(name);
        let def = self.simplify(def);
        let beside: Node = node
            .iter()
            .filter(|(key, _)| *key != "$ref")
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let merged = match def {
            Value::Object(def) if leads => self.both(annotated(def, beside), other.clone()),
            Value::Object(def) => self.both(other.clone(), annotated(def, beside)),
            _ => None,
        };
        self.inlining.pop();
        merged
    }

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
        if node.keys().any(|k| k != key && !is_annotation(k)) {
            return None;
        }
        let (told, other): (Node, Node) = other
            .clone()
            .into_iter()
            .partition(|(key, _)| is_annotation(key));
        self.copied += list.len() * other.values().map(size).sum::<usize>();
        let mut merged = Vec::new();
        for branch in list {
            let branch = branch.as_object()?.clone();
            let one = if leads {
                self.both(branch, other.clone())?
            } else {
                self.both(other.clone(), branch)?
            };
            match branches(&one) {
                Some(inner) => merged.extend(inner.iter().cloned()),
                None => merged.push(Value::Object(one)),
            }
            if merged.len() > MAX_BRANCHES {
                return None;
            }
        }
        let mut union = Node::from_iter([(key.to_owned(), Value::Array(merged))]);
        let annotations = node
            .iter()
            .filter(|(k, _)| *k != key)
            .map(|(k, v)| (k.clone(), v.clone()));
        union.extend(annotations);
        Some(annotated(union, told))
    }

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
                    let known: HashSet<Value> = ours.iter().cloned().collect();
                    ours.extend(theirs.into_iter().filter(|name| !known.contains(name)));
                }
                ("properties", Value::Object(ours), Value::Object(theirs)) => {
                    self.properties(ours, theirs)?
                }
                // The tag of a variant with `deny_unknown_fields` is outside its content: properties are united, and
                // closed if either side was.
                ("additionalProperties" | "unevaluatedProperties", ours, Value::Bool(false)) => {
                    *ours = json!(false)
                }
                ("additionalProperties" | "unevaluatedProperties", Value::Bool(false), _) => {}
                _ => return None,
            }
        }
        Some(first)
    }

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

fn annotated(mut node: Node, over: Node) -> Node {
    node.extend(over);
    node
}

/// The two keywords differ only beside others, which are merged by now.
fn close(node: &mut Node) {
    if ["$ref", "allOf", "anyOf", "oneOf", "if"]
        .iter()
        .any(|key| node.contains_key(*key))
    {
        return;
    }
    if let Some(rest) = node.shift_remove("unevaluatedProperties") {
        node.entry("additionalProperties").or_insert(rest);
    }
}

/// A union of constant strings becomes one `enum`, whose description lists the variants' docs.
fn constants(node: &mut Node) {
    let Some(list) = branches(node) else { return };
    if !node
        .keys()
        .all(|key| matches!(key.as_str(), "anyOf" | "oneOf" | "type") || is_annotation(key))
    {
        return;
    }
    let mut values: Vec<Value> = Vec::new();
    let mut met: HashSet<Value> = HashSet::new();
    let mut told: Vec<String> = node
        .get("description")
        .and_then(Value::as_str)
        .map(str::to_owned)
        .into_iter()
        .collect();
    for branch in list {
        let Some(branch) = branch.as_object() else {
            return;
        };
        if !branch.keys().all(|key: &String| {
            matches!(key.as_str(), "type" | "const" | "enum") || is_annotation(key)
        }) || branch.get("type").is_some_and(|kind| kind != "string")
        {
            return;
        }
        let own: Vec<Value> = match (branch.get("const"), branch.get("enum")) {
            (Some(value), None) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => return,
        };
        if !own.iter().all(Value::is_string) {
            return;
        }
        if let Some(description) = branch.get("description").and_then(Value::as_str) {
            let names: Vec<&str> = own.iter().filter_map(Value::as_str).collect();
            told.push(format!("- {}: {description}", names.join(", ")));
        }
        values.extend(own.into_iter().filter(|value| met.insert(value.clone())));
    }
    if values.is_empty() {
        return;
    }
    node.retain(|key, _| key != "anyOf" && key != "oneOf");
    node.insert("type".to_owned(), json!("string"));
    node.insert("enum".to_owned(), Value::Array(values));
    if !told.is_empty() {
        node.insert("description".to_owned(), Value::String(told.join("\n")));
    }
}
