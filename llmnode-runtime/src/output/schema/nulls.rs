//! Members that strict mode makes an answer give although the type lets it leave them out.

use serde_json::{Map, Value};

use super::WRAPPER;
use super::tree::{Node, branches, children, has_type, requires, target};

/// References and unions followed without going deeper into the value: no real type has as many, and a
/// definition that is only itself ends here.
const HOPS: u8 = 8;

/// Whether some property may be absent but not `null`.
pub(super) fn any(tree: &Value) -> bool {
    let defs = definitions(tree);
    let mut open = vec![tree];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else { continue };
        if properties(node).is_some_and(|all| all.iter().any(|(name, schema)| adds(defs, node, name, schema)))
        {
            return true;
        }
        open.extend(children(node));
    }
    false
}

/// Whether strict mode adds `null` to this property of `node`.
pub(super) fn adds(defs: Option<&Node>, node: &Node, name: &str, schema: &Value) -> bool {
    !requires(node, name) && !admits_null(defs, schema, HOPS)
}

pub(super) fn definitions(tree: &Value) -> Option<&Node> {
    tree.get("$defs")?.as_object()
}

/// Removes added nulls from `value`, and says how many there were.
pub(super) fn drop(tree: &Value, wrapped: bool, value: &mut Value) -> usize {
    let inner = if wrapped { tree.get("properties").and_then(|all| all.get(WRAPPER)) } else { None };
    visit(definitions(tree), inner.unwrap_or(tree), value, HOPS)
}

fn properties(node: &Node) -> Option<&Map<String, Value>> {
    node.get("properties")?.as_object()
}

fn admits_null(defs: Option<&Node>, schema: &Value, hops: u8) -> bool {
    let Some(node) = schema.as_object() else { return schema == &Value::Bool(true) };
    if hops == 0 {
        return false;
    }
    if let Some(def) = target(defs, node) {
        return admits_null(defs, def, hops - 1);
    }
    if let Some(list) = branches(node) {
        return list.iter().any(|branch| admits_null(defs, branch, hops - 1));
    }
    match (node.get("const"), node.get("enum").and_then(Value::as_array)) {
        (Some(only), _) => only.is_null(),
        (None, Some(values)) => values.contains(&Value::Null),
        (None, None) => !node.contains_key("type") || has_type(node, "null"),
    }
}

fn visit(defs: Option<&Node>, schema: &Value, value: &mut Value, hops: u8) -> usize {
    let Some(node) = schema.as_object() else { return 0 };
    if hops == 0 {
        return 0;
    }
    if let Some(def) = target(defs, node) {
        return visit(defs, def, value, hops - 1);
    }
    if let Some(list) = branches(node) {
        let fitting: Vec<&Value> = list.iter().filter(|branch| fits(defs, branch, value, hops - 1)).collect();
        return fitting.into_iter().map(|branch| visit(defs, branch, value, hops - 1)).sum();
    }
    match value {
        Value::Object(members) => visit_object(defs, node, members),
        Value::Array(items) => {
            let tuple = node.get("prefixItems").and_then(Value::as_array);
            let schema = |at: usize| tuple.and_then(|list| list.get(at)).or_else(|| node.get("items"));
            let all = items.iter_mut().enumerate();
            all.map(|(at, item)| schema(at).map_or(0, |schema| visit(defs, schema, item, HOPS))).sum()
        }
        _ => 0,
    }
}

fn visit_object(defs: Option<&Node>, node: &Node, members: &mut Map<String, Value>) -> usize {
    let named = properties(node);
    let mut dropped = 0;
    members.retain(|name, value| match named.and_then(|all| all.get(name)) {
        Some(schema) if value.is_null() && adds(defs, node, name, schema) => {
            dropped += 1;
            false
        }
        Some(schema) => {
            dropped += visit(defs, schema, value, HOPS);
            true
        }
        None => {
            dropped += node.get("additionalProperties").map_or(0, |schema| visit(defs, schema, value, HOPS));
            true
        }
    });
    dropped
}

/// Whether `value` may be meant as this branch of a union: its kind, its required members and its tags fit.
fn fits(defs: Option<&Node>, schema: &Value, value: &Value, hops: u8) -> bool {
    let Some(node) = schema.as_object() else { return true };
    if hops == 0 {
        return false;
    }
    if let Some(def) = target(defs, node) {
        return fits(defs, def, value, hops - 1);
    }
    if let Some(list) = branches(node) {
        return list.iter().any(|branch| fits(defs, branch, value, hops - 1));
    }
    let members = match value {
        Value::Object(members) => members,
        Value::Array(_) => return has_type(node, "array"),
        _ => return false,
    };
    let required = node.get("required").and_then(Value::as_array);
    let given = |name: &Value| name.as_str().is_some_and(|name| members.contains_key(name));
    has_type(node, "object")
        && required.is_none_or(|names| names.iter().all(given))
        && members.iter().all(|(name, value)| match properties(node).and_then(|all| all.get(name)) {
            Some(schema) => schema.get("const").is_none_or(|only| only == value),
            None => node.get("additionalProperties") != Some(&Value::Bool(false)),
        })
}
