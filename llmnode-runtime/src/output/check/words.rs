//! What is said about a value: how it is shown, and what is expected in its place.

use serde_json::{Map, Value};

use super::super::json::Json;
use super::node::{is_closed, list, properties, required};
use crate::output::schema::Node;
use crate::text::{counted, one_line};

/// How many bytes of a value are shown.
const SHOWN: usize = 60;
/// How many names or values stand in a description of what is expected.
const NAMED: usize = 8;

/// A value, short.
pub(crate) fn told(value: &Json<'_>) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(digits) => shown(digits),
        Json::String(text) => format!("{:?}", shown(text)),
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

/// A text, short.
pub(crate) fn shown(text: &str) -> String {
    one_line(text, SHOWN)
}

/// What a schema without references and unions expects: its types, each with its bounds, or the values that it lists.
pub(super) fn expected(node: &Node) -> String {
    let values = values(node);
    if !values.is_empty() {
        return several(values.iter().map(Value::to_string), " or ");
    }
    match types(node).as_slice() {
        [] if properties(node).is_some() => of_type(node, "object"),
        kinds => kinds.iter().map(|kind| of_type(node, kind)).collect::<Vec<_>>().join(" or "),
    }
}

fn of_type(node: &Node, kind: &str) -> String {
    let more = match kind {
        "integer" | "number" => range(node),
        "string" => lengths(node, "minLength", "maxLength", "character"),
        "array" => lengths(node, "minItems", "maxItems", "item"),
        "object" => members(node),
        _ => String::new(),
    };
    format!("{kind}{more}")
}

fn range(node: &Node) -> String {
    let bound = |keyword: &str| node.get(keyword).filter(|bound| bound.is_number());
    let mut words = match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => vec![format!("from {least} to {most}")],
        (least, most) => {
            let least = least.map(|least| format!("of at least {least}"));
            least.into_iter().chain(most.map(|most| format!("of at most {most}"))).collect()
        }
    };
    words.extend(bound("exclusiveMinimum").map(|bound| format!("of more than {bound}")));
    words.extend(bound("exclusiveMaximum").map(|bound| format!("of less than {bound}")));
    words.extend(bound("multipleOf").map(|bound| format!("that is a multiple of {bound}")));
    words.into_iter().map(|words| format!(" {words}")).collect()
}

fn lengths(node: &Node, least: &str, most: &str, what: &str) -> String {
    let bound = |keyword: &str| node.get(keyword).and_then(Value::as_u64);
    match (bound(least), bound(most)) {
        (Some(least), Some(most)) if least == most => format!(" of {}", counted(most, what)),
        (Some(least), Some(most)) => format!(" of {least} to {}", counted(most, what)),
        (Some(least), None) if least > 0 => format!(" of at least {}", counted(least, what)),
        (None, Some(most)) => format!(" of at most {}", counted(most, what)),
        _ => String::new(),
    }
}

/// The members that tell an object from others: those that have to be there.
fn members(node: &Node) -> String {
    let needed = several(required(node).map(quoted), ", ");
    if !needed.is_empty() {
        return format!(" with {needed}");
    }
    match known(node) {
        none if none.is_empty() => String::new(),
        known => format!(" with {}{known}", if is_closed(node) { "none but " } else { "any of " }),
    }
}

/// The members that an object may have.
pub(super) fn known(node: &Node) -> String {
    let known = properties(node).into_iter().flat_map(Map::keys);
    several(known.map(|name| quoted(name)), ", ")
}

fn quoted(name: &str) -> String {
    format!("`{}`", shown(name))
}

/// The first of several, with what separates them, and a sign that there are more.
pub(super) fn several(mut all: impl Iterator<Item = String>, between: &str) -> String {
    let mut words = all.by_ref().take(NAMED).collect::<Vec<_>>().join(between);
    if all.next().is_some() {
        words.push_str(between);
        words.push('…');
    }
    words
}

/// The values that a schema lists; none: it lists none.
pub(crate) fn values(node: &Node) -> &[Value] {
    node.get("const").map(std::slice::from_ref).unwrap_or_else(|| list(node, "enum"))
}

/// The types of a schema.
pub(crate) fn types(node: &Node) -> Vec<&str> {
    match node.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The types that a form may have: those that it names, or those of the values that it lists.
pub(crate) fn kinds_of(node: &Node) -> Vec<&str> {
    let named = types(node);
    if !named.is_empty() {
        return named;
    }
    values(node).iter().map(type_of).collect()
}

/// The type of a value that stands in a schema.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value that is allowed, as it is listed.
pub(crate) fn listed(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
