//! Whether serde may read the parts of a value again and again: it tries one form of an untagged enum after the other, and each
//! form that has the same member reads all that is in there, at every level on which the enum contains itself.

use serde_json::Value;

use super::node::{list, target};
use crate::output::schema::children;

/// Whether a type has an untagged enum that contains itself in more than one of its forms.
pub(in crate::output) fn may_be(root: &Value) -> bool {
    let mut open = vec![root];
    while let Some(node) = open.pop().map(Value::as_object) {
        let Some(node) = node else { continue };
        let forms = list(node, "anyOf");
        if forms.len() > 1 && forms.iter().filter(|form| leads_to(root, form, forms)).nth(1).is_some() {
            return true;
        }
        open.extend(children(node));
    }
    false
}

/// Whether these forms stand somewhere within a schema.
fn leads_to(root: &Value, schema: &Value, forms: &[Value]) -> bool {
    let (mut open, mut seen) = (vec![schema], Vec::new());
    while let Some(node) = open.pop().map(Value::as_object) {
        let Some(node) = node else { continue };
        if std::ptr::eq(list(node, "anyOf"), forms) {
            return true;
        }
        open.extend(children(node));
        let referred = node.get("$ref").and_then(Value::as_str).and_then(|to| target(root, to));
        if let Some(referred) = referred.filter(|to| !seen.iter().any(|known| std::ptr::eq(*known, *to))) {
            seen.push(referred);
            open.push(referred);
        }
    }
    false
}
