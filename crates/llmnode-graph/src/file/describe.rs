//! Describes in words what is wrong with a single value.

use serde_json::{Map, Value};

use crate::faults::shown;

pub(super) fn wrong_kind(rules: &Map<String, Value>, value: &Value) -> Option<String> {
    let is = |kind: &Value| match (kind.as_str().unwrap_or_default(), value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    };
    let fits = match rules.get("type")? {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    if fits { None } else { kinds(rules) }
}

pub(super) fn kinds(rules: &Map<String, Value>) -> Option<String> {
    let word = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "null" => None,
        "boolean" => Some("true or false"),
        "string" => Some("a text"),
        "array" => Some("a list"),
        "object" => Some("an object"),
        "number" => Some("a number"),
        "integer" => Some("a whole number"),
        _ => None,
    };
    let words: Vec<&str> = match rules.get("type")? {
        Value::Array(kinds) => kinds.iter().filter_map(word).collect(),
        kind => word(kind).into_iter().collect(),
    };
    if words.is_empty() { Some("null".to_owned()) } else { Some(words.join(" or ")) }
}

pub(super) fn out_of_bounds(rules: &Map<String, Value>, value: &Value) -> Option<String> {
    let bound = |keyword: &str| rules.get(keyword).and_then(Value::as_f64);
    let between = |count: f64, least: Option<f64>, most: Option<f64>, verb: &str, what: &str| {
        let is_out = least.is_some_and(|least| count < least) || most.is_some_and(|most| count > most);
        let words = match (least, most) {
            (Some(least), Some(most)) => format!("{verb} {least} to {most}{what}"),
            (Some(least), None) => format!("{verb} {least} or more{what}"),
            (None, Some(most)) => format!("{verb} at most {most}{what}"),
            (None, None) => String::new(),
        };
        is_out.then_some(words)
    };
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if let Some(above) = bound("exclusiveMinimum").filter(|above| number <= *above) {
                return Some(format!("be more than {above}"));
            }
            between(number, bound("minimum"), bound("maximum"), "be", "")
        }
        Value::String(text) => {
            let (least, most) = (bound("minLength"), bound("maxLength"));
            if least.is_none() && most.is_none() {
                return None;
            }
            between(text.chars().count() as f64, least, most, "have", " characters")
        }
        Value::Array(list) => {
            between(list.len() as f64, bound("minItems"), bound("maxItems"), "have", " items")
        }
        _ => None,
    }
}

pub(super) fn describe_size(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "is empty".to_owned(),
        Value::String(text) => format!("has {} characters", text.chars().count()),
        Value::Array(list) if list.is_empty() => "is empty".to_owned(),
        Value::Array(list) => format!("has {} items", list.len()),
        value => format!("is {}", describe(value)),
    }
}

pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", shown(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        value => value.to_string(),
    }
}
