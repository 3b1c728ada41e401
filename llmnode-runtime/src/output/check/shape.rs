//! What a schema asks for, in a few words.

use serde_json::Value;

use super::super::schema::{Node, OutputSchema, WRAPPER};
use super::variant::Variants;
use super::words::{expected, known, several, types, values};
use super::{list, target};

/// What the answer is to be; `None` if the schema is none of the simple ones.
pub(in super::super) fn shape(schema: &OutputSchema) -> Option<String> {
    let own = of(&schema.tree, schema.own())?;
    Some(if schema.is_wrapped() { format!("{{\"{WRAPPER}\": ..}} with {own}") } else { own })
}

fn of(root: &Value, node: &Value) -> Option<String> {
    let node = match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => target(root, reference)?,
        None => node,
    };
    let node = node.as_object()?;
    let values = values(node);
    if !values.is_empty() {
        return Some(format!("one of {}", several(values.iter().map(Value::to_string), ", ")));
    }
    match types(node).as_slice() {
        [] => variants(node),
        // Those that may be absent, too: nothing was written yet.
        ["object"] if !known(node).is_empty() => Some(format!("an object with {}", known(node))),
        ["null"] => Some("null".to_owned()),
        [kind, ..] => {
            let article = if kind.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
            Some(format!("{article} {}", expected(node)))
        }
    }
}

/// The variants of an enum of which some have content.
fn variants(node: &Node) -> Option<String> {
    let forms = ["oneOf", "anyOf"].into_iter().flat_map(|union| list(node, union)).map(Value::as_object);
    Some(format!("one of {}", Variants::of(&forms.collect::<Option<Vec<_>>>()?)?.all()))
}
