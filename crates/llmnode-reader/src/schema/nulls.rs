//! Members that strict mode requires although the type lets an answer leave them out.

use serde_json::Value;

use crate::tree::{Node, branches, has_type, target};

/// Definitions visited at one place: a second visit finds nothing new, which ends recursion.
#[derive(Default)]
struct Seen<'a>(Vec<&'a Value>);

impl<'a> Seen<'a> {
    fn is_new(&mut self, def: &'a Value) -> bool {
        let is_new = self.0.len() < 256 && !self.0.iter().any(|one| std::ptr::eq(*one, def));
        if is_new {
            self.0.push(def);
        }
        is_new
    }
}

pub(super) fn adds_null(defs: Option<&Node>, required: bool, schema: &Value) -> bool {
    !required && !admits_null(defs, schema, &mut Seen::default())
}

pub(super) fn definitions(tree: &Value) -> Option<&Node> {
    tree.get("$defs")?.as_object()
}

fn admits_null<'a>(defs: Option<&'a Node>, schema: &'a Value, seen: &mut Seen<'a>) -> bool {
    let Some(node) = schema.as_object() else {
        return schema == &Value::Bool(true);
    };
    if let Some(def) = target(defs, node) {
        return seen.is_new(def) && admits_null(defs, def, seen);
    }
    if let Some(list) = branches(node) {
        return list.iter().any(|branch| admits_null(defs, branch, seen));
    }
    match (
        node.get("const"),
        node.get("enum").and_then(Value::as_array),
    ) {
        (Some(only), _) => only.is_null(),
        (None, Some(values)) => values.contains(&Value::Null),
        (None, None) => !node.contains_key("type") || has_type(node, "null"),
    }
}
