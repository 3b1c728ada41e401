//! Members that strict mode makes an answer give although the type lets it leave them out.

use serde_json::{Map, Value};

use super::WRAPPER;
use super::tree::{Node, branches, children, has_type, required, requires, target};

/// The definitions that were looked into at one place of a value: a second look finds nothing new, and one that is
/// only itself ends here.
#[derive(Default)]
struct Seen<'a>(Vec<&'a Value>);

impl<'a> Seen<'a> {
    /// Whether this is the first look. Unions of more definitions than this are no real type's.
    fn is_new(&mut self, def: &'a Value) -> bool {
        let is_new = self.0.len() < 256 && !self.0.iter().any(|one| std::ptr::eq(*one, def));
        if is_new {
            self.0.push(def);
        }
        is_new
    }
}

/// Whether some property may be absent but not `null`.
pub(super) fn any(tree: &Value) -> bool {
    let defs = definitions(tree);
    let mut open = vec![tree];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else { continue };
        let required = required(node);
        let adds = |(name, schema): (&String, &Value)| adds(defs, required.contains(name.as_str()), schema);
        if properties(node).is_some_and(|all| all.iter().any(adds)) {
            return true;
        }
        open.extend(children(node));
    }
    false
}

/// Whether a `null` that was added could change what serde makes of an answer without its being refused: a union
/// without tags takes another branch.
pub(super) fn may_hide(tree: &Value) -> bool {
    let defs = definitions(tree);
    let is_null = |branch: &Value| branch.as_object().is_some_and(|node| has_type(node, "null"));
    let mut open: Vec<&Value> = vec![tree];
    open.extend(defs.into_iter().flat_map(Node::values));
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else { continue };
        if branches(node).is_some_and(|list| list.iter().filter(|branch| !is_null(branch)).count() > 1) {
            return true;
        }
        open.extend(children(node));
    }
    false
}

/// Whether strict mode adds `null` to a property, which may be required as it is.
pub(super) fn adds(defs: Option<&Node>, required: bool, schema: &Value) -> bool {
    !required && !admits_null(defs, schema, &mut Seen::default())
}

pub(super) fn definitions(tree: &Value) -> Option<&Node> {
    tree.get("$defs")?.as_object()
}

/// Removes added nulls from `value`, and says how many there were.
pub(super) fn drop(tree: &Value, wrapped: bool, value: &mut Value) -> usize {
    let inner = if wrapped { tree.get("properties").and_then(|all| all.get(WRAPPER)) } else { None };
    visit(definitions(tree), inner.unwrap_or(tree), value, &mut Seen::default())
}

fn properties(node: &Node) -> Option<&Map<String, Value>> {
    node.get("properties")?.as_object()
}

fn admits_null<'a>(defs: Option<&'a Node>, schema: &'a Value, seen: &mut Seen<'a>) -> bool {
    let Some(node) = schema.as_object() else { return schema == &Value::Bool(true) };
    if let Some(def) = target(defs, node) {
        return seen.is_new(def) && admits_null(defs, def, seen);
    }
    if let Some(list) = branches(node) {
        return list.iter().any(|branch| admits_null(defs, branch, seen));
    }
    match (node.get("const"), node.get("enum").and_then(Value::as_array)) {
        (Some(only), _) => only.is_null(),
        (None, Some(values)) => values.contains(&Value::Null),
        (None, None) => !node.contains_key("type") || has_type(node, "null"),
    }
}

fn visit<'a>(defs: Option<&'a Node>, schema: &'a Value, value: &mut Value, seen: &mut Seen<'a>) -> usize {
    let Some(node) = schema.as_object() else { return 0 };
    if let Some(def) = target(defs, node) {
        return if seen.is_new(def) { visit(defs, def, value, seen) } else { 0 };
    }
    if let Some(list) = branches(node) {
        let fitting = list.iter().filter(|branch| fits(defs, branch, value, &mut Seen::default()));
        let fitting: Vec<&Value> = fitting.collect();
        return fitting.into_iter().map(|branch| visit(defs, branch, value, seen)).sum();
    }
    match value {
        Value::Object(members) => visit_object(defs, node, members),
        Value::Array(items) => {
            let tuple = node.get("prefixItems").and_then(Value::as_array);
            let schema = |at: usize| tuple.and_then(|list| list.get(at)).or_else(|| node.get("items"));
            let all = items.iter_mut().enumerate();
            all.map(|(at, item)| {
                schema(at).map_or(0, |schema| visit(defs, schema, item, &mut Seen::default()))
            })
            .sum()
        }
        _ => 0,
    }
}

fn visit_object<'a>(defs: Option<&'a Node>, node: &'a Node, members: &mut Map<String, Value>) -> usize {
    let named = properties(node);
    let mut dropped = 0;
    members.retain(|name, value| match named.and_then(|all| all.get(name)) {
        Some(schema) if value.is_null() && adds(defs, requires(node, name), schema) => {
            dropped += 1;
            false
        }
        Some(schema) => {
            dropped += visit(defs, schema, value, &mut Seen::default());
            true
        }
        None => {
            let rest = node.get("additionalProperties");
            dropped += rest.map_or(0, |schema| visit(defs, schema, value, &mut Seen::default()));
            true
        }
    });
    dropped
}

/// Whether `value` may be meant as this branch of a union: its kind, its required members and its tags fit.
fn fits<'a>(defs: Option<&'a Node>, schema: &'a Value, value: &Value, seen: &mut Seen<'a>) -> bool {
    let Some(node) = schema.as_object() else { return true };
    if let Some(def) = target(defs, node) {
        return seen.is_new(def) && fits(defs, def, value, seen);
    }
    if let Some(list) = branches(node) {
        return list.iter().any(|branch| fits(defs, branch, value, seen));
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
