//! What a schema asks for, in a few words.

use serde_json::{Map, Value};

use super::super::schema::{OutputSchema, WRAPPER};
use super::variant::Variants;
use super::words::types;
use super::{list, target};
use crate::text::one_line;

/// Names and values that are listed, at most.
const MOST: usize = 8;

/// What the answer is to be; `None` if the schema is none of the simple ones.
pub(in super::super) fn shape(schema: &OutputSchema) -> Option<String> {
    let own = of(schema.root(), schema.own())?;
    Some(if schema.is_wrapped() { format!("{{\"{WRAPPER}\": ..}} with {own}") } else { own })
}

fn of(root: &Value, node: &Value) -> Option<String> {
    let node = match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => target(root, reference)?,
        None => node,
    };
    let node = node.as_object()?;
    if let Some(allowed) = node.get("enum").and_then(Value::as_array) {
        return Some(format!("one of {}", listed(allowed.iter().map(Value::to_string))));
    }
    match &types(node)[..] {
        [] => variants(node),
        ["object"] => Some(object(node)),
        several => Some(format!("a value of type {}", several.join(" or "))),
    }
}

/// The variants of an enum of which some have content.
fn variants(node: &Map<String, Value>) -> Option<String> {
    let forms = ["oneOf", "anyOf"].into_iter().flat_map(|union| list(node, union)).map(Value::as_object);
    Some(format!("one of {}", Variants::of(&forms.collect::<Option<Vec<_>>>()?)?.all()))
}

fn object(node: &Map<String, Value>) -> String {
    match node.get("properties").and_then(Value::as_object) {
        Some(members) if !members.is_empty() => {
            format!("an object with {}", listed(members.keys().map(|name| format!("`{name}`"))))
        }
        _ => "an object".to_owned(),
    }
}

fn listed(all: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 40;
    let more = if all.len() > MOST { ", .." } else { "" };
    let shown: Vec<String> = all.take(MOST).map(|one| one_line(&one, SHOWN)).collect();
    shown.join(", ") + more
}
