//! From schemars' schema to the plain dialect: marks and titles removed, references and unions made explicit, an object as the
//! root.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::depth;
use super::merge::Merger;
use crate::marks::MARK;
use crate::tree::WRAPPER;
use crate::tree::{Node, branches, children, children_mut, def_name, target};

pub(super) struct Normalized {
    pub(super) tree: Value,
    pub(super) wrapped: bool,
    pub(super) truncated: bool,
}

pub(super) fn normalise(mut schema: Value, name: &str) -> Normalized {
    clean(&mut schema);
    let mut defs = match schema
        .as_object_mut()
        .and_then(|root| root.shift_remove("$defs"))
    {
        Some(Value::Object(defs)) => defs,
        _ => Map::new(),
    };
    detach_root(&mut schema, &mut defs, name);

    let mut merger = Merger::new(&defs);
    let root = merger.simplify(schema);
    let simple = defs
        .iter()
        .map(|(name, def)| (name.clone(), merger.simplify(def.clone())))
        .collect();
    let root = resolved(root, &simple);

    let wrapped = !is_object(&root);
    let mut tree = if wrapped { wrap(root) } else { root };
    let defs = reachable(&tree, simple);
    if let (Some(root), false) = (tree.as_object_mut(), defs.is_empty()) {
        root.insert("$defs".to_owned(), Value::Object(defs));
    }
    let truncated = depth::bound(&mut tree);
    Normalized {
        tree,
        wrapped,
        truncated,
    }
}

fn clean(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else {
        return;
    };
    node.retain(|key, _| !matches!(key.as_str(), "$schema" | "$id" | "title") && key != MARK);
    bound(node);
    for (key, child) in children_mut(node) {
        // llama.cpp requires an object for "anything", but takes a flag for whether an object is open.
        if *child == Value::Bool(true) && !key.ends_with("Properties") {
            *child = json!({});
        }
        clean(child);
    }
}

/// Most readers ignore `format: int32`. schemars writes bounds up to 16 bits; beyond 32, many readers would round them.
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
    for (tight, strict, value) in [
        ("minimum", "exclusiveMinimum", least),
        ("maximum", "exclusiveMaximum", most),
    ] {
        if !value.is_null() && !node.contains_key(tight) && !node.contains_key(strict) {
            node.insert(tight.to_owned(), value);
        }
    }
}

/// A recursive type refers to the root by `#`, which not every reader resolves, and which changes its meaning when the
/// root is wrapped. So the root becomes a definition and a copy of it.
fn detach_root(root: &mut Value, defs: &mut Node, name: &str) {
    let mut own = name.to_owned();
    while defs.contains_key(&own) {
        own.push('_');
    }
    let pointer = format!("#/$defs/{own}");
    let mut found = redirect(root, &pointer);
    for def in defs.values_mut() {
        found |= redirect(def, &pointer);
    }
    if found {
        defs.insert(own, root.clone());
    }
}

fn redirect(schema: &mut Value, pointer: &str) -> bool {
    let Some(node) = schema.as_object_mut() else {
        return false;
    };
    let mut found = false;
    if let Some(Value::String(reference)) = node.get_mut("$ref")
        && let Some(inside) = reference
            .strip_prefix('#')
            .filter(|rest| !rest.starts_with("/$defs/"))
    {
        *reference = format!("{pointer}{inside}");
        found = true;
    }
    for (_, child) in children_mut(node) {
        found |= redirect(child, pointer);
    }
    found
}

/// Providers want an object as root, not a `$ref`.
fn resolved(mut root: Value, defs: &Node) -> Value {
    for _ in 0..defs.len() {
        let Some(node) = root.as_object() else { break };
        let Some(Value::Object(def)) = target(Some(defs), node) else {
            break;
        };
        let mut merged = def.clone();
        if let Some(description) = node.get("description") {
            merged.insert("description".to_owned(), description.clone());
        }
        root = Value::Object(merged);
    }
    root
}

fn is_object(root: &Value) -> bool {
    let Some(node) = root.as_object() else {
        return false;
    };
    let object = node.get("type").is_some_and(|kind| kind == "object");
    object
        && branches(node).is_none()
        && !["$ref", "allOf", "enum", "const"]
            .iter()
            .any(|k| node.contains_key(*k))
}

fn wrap(root: Value) -> Value {
    json!({
        "type": "object",
        "properties": {WRAPPER: root},
        "required": [WRAPPER],
        "additionalProperties": false,
    })
}

pub(super) fn reachable(tree: &Value, mut defs: Node) -> Node {
    let mut used = BTreeSet::new();
    let mut open = vec![tree];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else {
            continue;
        };
        open.extend(children(node));
        let Some(name) = node
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(first_segment)
        else {
            continue;
        };
        if let Some(def) = defs.get(&name)
            && used.insert(name)
        {
            open.push(def);
        }
    }
    defs.retain(|name, _| used.contains(name));
    defs
}

fn first_segment(reference: &str) -> Option<String> {
    let path = reference.strip_prefix("#/$defs/")?;
    let end = path.find('/').unwrap_or(path.len());
    def_name(&reference[..reference.len() - path.len() + end]).map(|name| name.into_owned())
}
