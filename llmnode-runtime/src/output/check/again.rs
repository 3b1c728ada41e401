//! How often serde reads the parts of a value: it tries one form of an untagged enum after the other, and each form that
//! has the same member reads all that is in there again, at every level on which the enum contains itself.

use serde_json::Value;

use super::explain::doubled;
use super::node::{list, member_schema, required, target};
use super::union::has_another_tag;
use super::words::values;
use super::{Check, Judge, number, unchecked};
use crate::output::OutputSchema;
use crate::output::reader::{Json, parse};
use crate::output::schema::{Node, children};
use crate::validate::Violation;

/// How many steps of serde's are too many; a step takes it some 100 ns, or 2 µs in a build that is not optimised.
const STEPS: u64 = 1_000_000;

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

/// Why serde should not be given JSON of such a type, which stands at `place`: it would not soon be done with it.
pub(in crate::output) fn too_long(json: &str, schema: &OutputSchema, place: &str) -> Option<Violation> {
    let Some(tree) = parse(json) else { return Some(doubled(json).unwrap_or_else(unchecked)) };
    let check = Check::new(&schema.tree, Judge::Type, [&tree]);
    check.work.set(STEPS.max(check.work.get()));
    check.reads(schema.own(), &tree, 0);
    let message = "is nested too deeply in forms that have members in common";
    let ask = "write it with fewer levels".into();
    (!check.ends()).then(|| Violation { ask, ..Violation::new(place, message) })
}

/// Whether a value is one of those that a schema lists, if it does.
fn is_listed(node: &Node, value: &Json<'_>) -> bool {
    let listed = values(node);
    listed.is_empty() || listed.iter().any(|one| Json::from(one) == *value)
}

impl Check<'_> {
    /// Whether serde takes a value, as far as kinds and names decide that, by the steps in which it finds out.
    fn reads(&self, schema: &Value, value: &Json<'_>, depth: u32) -> bool {
        if !self.spend(1, depth) {
            return false;
        }
        let Some(node) = schema.as_object() else { return *schema != Value::Bool(false) };
        if !self.has_type(node, value) || !is_listed(node, value) {
            return false;
        }
        let parts = match value {
            Json::Array(items) => {
                let prefix = list(node, "prefixItems");
                items.iter().enumerate().all(|(index, item)| {
                    let schema = prefix.get(index).or_else(|| node.get("items"));
                    schema.is_none_or(|schema| self.reads(schema, item, depth + 1))
                })
            }
            // What lacks is noticed at the end.
            Json::Object(members) => {
                members.iter().all(|(name, value)| {
                    self.stands_for_absent(node, name, value)
                        || member_schema(node, name).is_none_or(|schema| self.reads(schema, value, depth + 1))
                }) && required(node).all(|name| members.iter().any(|(given, _)| given == name))
            }
            Json::Number(digits) => number::too_large(node, digits).is_none(),
            _ => true,
        };
        parts && self.reads_combined(node, value, depth)
    }

    fn reads_combined(&self, node: &Node, value: &Json<'_>, depth: u32) -> bool {
        let reads = |schema: &Value| self.reads(schema, value, depth + 1);
        let referred = node.get("$ref").and_then(Value::as_str).and_then(|to| target(self.root, to));
        let one_of = list(node, "oneOf");
        let any_of = list(node, "anyOf");
        referred.is_none_or(reads)
            && list(node, "allOf").iter().all(reads)
            && (any_of.is_empty() || any_of.iter().any(reads))
            // A tag, or the name of the only member, says which form it is before what is inside is read.
            && (one_of.is_empty() || one_of.iter().filter(|form| self.may_be_meant(form, value)).any(reads))
    }

    fn may_be_meant(&self, form: &Value, value: &Json<'_>) -> bool {
        let Json::Object(members) = value else { return true };
        let given = |name: &str| members.iter().any(|(given, _)| given == name);
        self.leaves(form).iter().any(|node| !has_another_tag(node, members) && required(node).all(given))
    }
}
