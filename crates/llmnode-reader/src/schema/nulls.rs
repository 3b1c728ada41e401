//! Members that strict mode requires although the type lets an answer leave them out.
//!
//! Such a member gets `null` as one more value, unless its type takes `null`
//! already: then `null` may mean something else.

use serde_json::Value;

use crate::tree::{Node, branches, has_type, target};

/// Definitions visited at one place: a second visit finds nothing new, which ends recursion.
#[derive(Default)]
struct Seen<'a> {
    definitions: Vec<&'a Value>,
}

impl<'a> Seen<'a> {
    fn is_new(&mut self, definition: &'a Value) -> bool {
        // A bound, since each visit looks through all of them.
        const MOST: usize = 256;
        let is_seen = self
            .definitions
            .iter()
            .any(|seen| std::ptr::eq(*seen, definition));
        if is_seen || self.definitions.len() >= MOST {
            return false;
        }
        self.definitions.push(definition);
        true
    }
}

/// Whether strict mode has to add `null` to what a member may be.
pub(super) fn adds_null(defs: Option<&Node>, required: bool, schema: &Value) -> bool {
    !required && !admits_null(defs, schema, &mut Seen::default())
}

/// The definitions of a schema.
pub(super) fn definitions(tree: &Value) -> Option<&Node> {
    tree.get("$defs")?.as_object()
}

/// Whether a value of the schema may be `null` by itself.
fn admits_null<'a>(defs: Option<&'a Node>, schema: &'a Value, seen: &mut Seen<'a>) -> bool {
    let Some(node) = schema.as_object() else {
        return schema == &Value::Bool(true);
    };
    if let Some(definition) = target(defs, node) {
        return seen.is_new(definition) && admits_null(defs, definition, seen);
    }
    if let Some(forms) = branches(node) {
        return forms.iter().any(|form| admits_null(defs, form, seen));
    }
    if let Some(only) = node.get("const") {
        return only.is_null();
    }
    if let Some(Value::Array(values)) = node.get("enum") {
        return values.contains(&Value::Null);
    }
    !node.contains_key("type") || has_type(node, "null")
}
