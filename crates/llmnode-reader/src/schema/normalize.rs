//! From schemars' schema to the plain dialect: marks and titles removed, references
//! and unions made explicit, an object as the root.
//!
//! The order matters: names of definitions must be known before the root is taken
//! apart from them, and conjunctions are merged before the root is looked at, since
//! only then it shows whether it is an object. What nothing refers to any more is
//! dropped at last, and the depth is bounded once more, as merging may have added
//! to it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::depth;
use super::merge::Merger;
use crate::marks::MARK;
use crate::tree::WRAPPER;
use crate::tree::{Node, branches, children, children_mut, def_name, target};

/// A schema in the plain dialect.
pub(super) struct Normalized {
    pub(super) tree: Value,
    pub(super) wrapped: bool,
    pub(super) truncated: bool,
}

/// `name`: for the definition of a root that refers to itself.
pub(super) fn normalise(mut schema: Value, name: &str) -> Normalized {
    clean(&mut schema);
    let mut defs = take_definitions(&mut schema);
    detach_root(&mut schema, &mut defs, name);

    let mut merger = Merger::new(&defs);
    let root = merger.simplify(schema);
    let mut simple_defs = Node::new();
    for (name, definition) in &defs {
        let simple = merger.simplify(definition.clone());
        simple_defs.insert(name.clone(), simple);
    }
    let root = resolved(root, &simple_defs);

    let wrapped = !is_object(&root);
    let mut tree = if wrapped { wrap(root) } else { root };
    let used_defs = reachable(&tree, simple_defs);
    if !used_defs.is_empty()
        && let Some(root) = tree.as_object_mut()
    {
        root.insert("$defs".to_owned(), Value::Object(used_defs));
    }
    let truncated = depth::bound(&mut tree);
    Normalized {
        tree,
        wrapped,
        truncated,
    }
}

fn take_definitions(schema: &mut Value) -> Node {
    let Some(root) = schema.as_object_mut() else {
        return Node::new();
    };
    match root.shift_remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Node::new(),
    }
}

/// Removes what is for no model, at all places.
fn clean(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else {
        return;
    };
    node.retain(|key, _| !matches!(key.as_str(), "$schema" | "$id" | "title") && key != MARK);
    bound(node);
    for (key, child) in children_mut(node) {
        // llama.cpp requires an object for "anything", but takes a flag for whether
        // an object is open.
        if *child == Value::Bool(true) && !key.ends_with("Properties") {
            *child = json!({});
        }
        clean(child);
    }
}

/// Most readers ignore `format: int32`. schemars writes bounds up to 16 bits;
/// beyond 32, many readers would round them.
fn bound(node: &mut Node) {
    let (least, most) = match node.get("format").and_then(Value::as_str) {
        Some("int32") => (json!(i32::MIN), json!(i32::MAX)),
        Some("uint32") => (json!(0), json!(u32::MAX)),
        Some("int8" | "int16" | "int64" | "int128" | "int") => (Value::Null, Value::Null),
        Some("uint8" | "uint16" | "uint64" | "uint128" | "uint") => (json!(0), Value::Null),
        Some("float" | "double") => (Value::Null, Value::Null),
        _ => return,
    };
    node.shift_remove("format");
    for (inclusive, exclusive, bound) in [
        ("minimum", "exclusiveMinimum", least),
        ("maximum", "exclusiveMaximum", most),
    ] {
        let has_own = node.contains_key(inclusive) || node.contains_key(exclusive);
        if !bound.is_null() && !has_own {
            node.insert(inclusive.to_owned(), bound);
        }
    }
}

/// A recursive type refers to the root by `#`, which not every reader resolves, and
/// which changes its meaning when the root is wrapped. So the root becomes a
/// definition and a copy of it.
fn detach_root(root: &mut Value, defs: &mut Node, name: &str) {
    let mut free_name = name.to_owned();
    while defs.contains_key(&free_name) {
        free_name.push('_');
    }
    let pointer = format!("#/$defs/{free_name}");
    let mut is_recursive = redirect(root, &pointer);
    for definition in defs.values_mut() {
        is_recursive |= redirect(definition, &pointer);
    }
    if is_recursive {
        defs.insert(free_name, root.clone());
    }
}

/// Leads references to the root, or into it, to the pointer. Returns whether there were any.
fn redirect(schema: &mut Value, pointer: &str) -> bool {
    let Some(node) = schema.as_object_mut() else {
        return false;
    };
    let mut found = false;
    if let Some(Value::String(reference)) = node.get_mut("$ref")
        && let Some(inside) = reference.strip_prefix('#')
        && !inside.starts_with("/$defs/")
    {
        *reference = format!("{pointer}{inside}");
        found = true;
    }
    for (_, child) in children_mut(node) {
        found |= redirect(child, pointer);
    }
    found
}

/// Providers want an object as root, not a `$ref`. A chain of references is at most
/// as long as there are definitions.
fn resolved(mut root: Value, defs: &Node) -> Value {
    for _ in 0..defs.len() {
        let Some(node) = root.as_object() else { break };
        let Some(Value::Object(definition)) = target(Some(defs), node) else {
            break;
        };
        let mut merged = definition.clone();
        if let Some(description) = node.get("description") {
            merged.insert("description".to_owned(), description.clone());
        }
        root = Value::Object(merged);
    }
    root
}

/// Whether it describes objects and nothing else.
fn is_object(root: &Value) -> bool {
    let Some(node) = root.as_object() else {
        return false;
    };
    let is_of_type = node.get("type").is_some_and(|kind| kind == "object");
    let is_more = ["$ref", "allOf", "enum", "const"]
        .iter()
        .any(|keyword| node.contains_key(*keyword));
    is_of_type && branches(node).is_none() && !is_more
}

/// Around a value that is no object.
fn wrap(root: Value) -> Value {
    json!({
        "type": "object",
        "properties": {WRAPPER: root},
        "required": [WRAPPER],
        "additionalProperties": false,
    })
}

/// The definitions that a schema refers to, directly or through others.
pub(super) fn reachable(tree: &Value, mut defs: Node) -> Node {
    let mut used = BTreeSet::new();
    let mut open = vec![tree];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else {
            continue;
        };
        open.extend(children(node));
        let Some(reference) = node.get("$ref").and_then(Value::as_str) else {
            continue;
        };
        let Some(name) = first_segment(reference) else {
            continue;
        };
        if let Some(definition) = defs.get(&name)
            && used.insert(name)
        {
            open.push(definition);
        }
    }
    defs.retain(|name, _| used.contains(name));
    defs
}

/// The definition that a reference leads to, or into.
fn first_segment(reference: &str) -> Option<String> {
    const BEGIN: &str = "#/$defs/";
    let path = reference.strip_prefix(BEGIN)?;
    let length = path.find('/').unwrap_or(path.len());
    let name = def_name(&reference[..BEGIN.len() + length])?;
    Some(name.into_owned())
}
