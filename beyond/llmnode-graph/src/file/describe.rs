//! Describes in words what is wrong with a single value.

use serde_json::{Map, Value};

use crate::faults::shown;

pub(super) fn out_of_bounds(rules: &Map<String, Value>, value: &Value) -> Option<String> {
    let (count, [least, most], [verb, what]) = match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if let Some(above) = bound(rules, "exclusiveMinimum")
                && number <= above
            {
                return Some(format!("be more than {above}"));
            }
            (number, ["minimum", "maximum"], ["be", ""])
        }
        Value::String(text) => (
            text.chars().count() as f64,
            ["minLength", "maxLength"],
            ["have", " characters"],
        ),
        Value::Array(list) => (
            list.len() as f64,
            ["minItems", "maxItems"],
            ["have", " items"],
        ),
        _ => return None,
    };
    let range = match (bound(rules, least), bound(rules, most)) {
        (Some(least), Some(most)) if count < least || count > most => format!("{least} to {most}"),
        (Some(least), None) if count < least => format!("{least} or more"),
        (None, Some(most)) if count > most => format!("at most {most}"),
        _ => return None,
    };
    Some(format!("{verb} {range}{what}"))
}

fn bound(rules: &Map<String, Value>, keyword: &str) -> Option<f64> {
    rules.get(keyword).and_then(Value::as_f64)
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
