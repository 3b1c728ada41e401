//! JSON Schemas in a body: their nodes, and how large they are.

use std::collections::HashSet;

use serde_json::Value;

use super::pointer::{Pointer, step_into};
use crate::model_answer::list;

/// Deeper nodes are not looked at.
const MAX_DEPTH: usize = 200;

/// Members that are one schema.
const ONE: [&str; 7] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
];
/// Members that are a list of schemas.
const SEVERAL: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Members that are schemas by name.
const NAMED: [&str; 5] = [
    "properties",
    "$defs",
    "definitions",
    "patternProperties",
    "dependentSchemas",
];

/// Every object within a schema that is a schema, the schema first.
pub(super) fn nodes(schema: &Value) -> Vec<(Pointer, &Value)> {
    let mut found = Vec::new();
    collect(schema, &Pointer::default(), &mut found);
    found
}

fn collect<'s>(schema: &'s Value, place: &Pointer, found: &mut Vec<(Pointer, &'s Value)>) {
    if !schema.is_object() || place.0.len() > MAX_DEPTH {
        return;
    }
    found.push((place.clone(), schema));
    for (place, child) in children(schema)
        .into_iter()
        .map(|(steps, child)| (place.join(&steps), child))
    {
        collect(child, &place, found);
    }
}

fn children(schema: &Value) -> Vec<(Pointer, &Value)> {
    let mut found = Vec::new();
    for name in ONE {
        found.extend(
            schema
                .get(name)
                .map(|one| (Pointer::default().with(name), one)),
        );
    }
    // An older form of tuples.
    for name in SEVERAL.into_iter().chain(["items"]) {
        let all = list(&schema[name]).iter().enumerate();
        found.extend(
            all.map(|(at, one)| (Pointer::default().with(name).with(&at.to_string()), one)),
        );
    }
    for name in NAMED {
        let all = schema[name].as_object().into_iter().flatten();
        found.extend(all.map(|(member, one)| (Pointer::default().with(name).with(member), one)));
    }
    found
}

/// What `reference` names in the document, such as `#/$defs/Item`.
fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let path = reference.strip_prefix('#')?;
    let unescaped = path.replace("%24", "$");
    unescaped.split('/').skip(1).try_fold(root, |here, step| {
        step_into(here, &step.replace("~1", "/").replace("~0", "~"))
    })
}

pub(super) fn is_dangling(root: &Value, node: &Value) -> bool {
    let reference = node.get("$ref").and_then(Value::as_str);
    reference.is_some_and(|reference| target(root, reference).is_none())
}

/// Levels of objects and lists, references followed until they repeat.
pub(super) fn depth(root: &Value) -> u64 {
    depth_of(root, root, &mut Vec::new())
}

fn depth_of<'s>(root: &'s Value, schema: &'s Value, open: &mut Vec<&'s str>) -> u64 {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        if open.contains(&reference) {
            return 0;
        }
        open.push(reference);
        let depth = target(root, reference).map_or(0, |target| depth_of(root, target, open));
        open.pop();
        return depth;
    }
    let below = children(schema)
        .into_iter()
        .filter(|(place, _)| !place.0[0].ends_with("efs"));
    let below = below.filter(|(place, _)| place.0[0] != "definitions");
    let below = below
        .map(|(_, child)| depth_of(root, child, open))
        .max()
        .unwrap_or(0);
    let is_level = schema.get("properties").is_some() || schema.get("items").is_some();
    below + u64::from(is_level)
}

/// Whether a type contains itself.
pub(super) fn is_recursive(root: &Value) -> bool {
    contains_open(root, root, &mut vec!["#"])
}

fn contains_open<'s>(root: &'s Value, schema: &'s Value, open: &mut Vec<&'s str>) -> bool {
    if open.len() > MAX_DEPTH {
        return true;
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        if open.contains(&reference) {
            return true;
        }
        open.push(reference);
        let is_open =
            target(root, reference).is_some_and(|target| contains_open(root, target, open));
        open.pop();
        return is_open;
    }
    // A definition counts where it is referred to.
    children(schema).into_iter().any(|(place, child)| {
        let is_definition = matches!(&*place.0[0], "$defs" | "definitions");
        !is_definition && contains_open(root, child, open)
    })
}

pub(super) fn properties(root: &Value) -> u64 {
    count(root, |node| {
        node["properties"].as_object().map_or(0, |all| all.len())
    })
}

pub(super) fn optional(root: &Value) -> u64 {
    count(root, |node| {
        let required: HashSet<&str> = list(&node["required"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let all = node["properties"].as_object().into_iter().flatten();
        all.filter(|(name, _)| !required.contains(name.as_str()))
            .count()
    })
}

/// Choices of types: `anyOf`, and lists of types.
pub(super) fn unions(root: &Value) -> u64 {
    count(root, |node| {
        usize::from(node.get("anyOf").is_some_and(Value::is_array))
            + usize::from(node["type"].is_array())
    })
}

pub(super) fn enum_values(root: &Value) -> u64 {
    count(root, |node| list(&node["enum"]).len())
}

fn count(root: &Value, of: impl Fn(&Value) -> usize) -> u64 {
    nodes(root)
        .into_iter()
        .map(|(_, node)| of(node) as u64)
        .sum()
}
