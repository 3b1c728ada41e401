//! The conjunction of two schemas, for `allOf` and for keywords beside `$ref`, `anyOf` and `oneOf`.

use serde_json::{Map, Value, json};

use super::number::{at_least, common_multiple};

/// Adds what `from` demands to `into`. Neither may hold `$ref`, `allOf`, `anyOf` or `oneOf` itself; their
/// subschemas may, and are combined as an `allOf` that is looked into only when a value of it is asked for.
pub(super) fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    if let Some(properties) = properties(into, from) {
        into.insert("properties".to_owned(), properties);
    }
    for (key, new) in from {
        let (key, new) = match key.as_str() {
            "properties" => continue,
            "const" => ("enum", &json!([new])),
            key => (key, new),
        };
        if key == "enum"
            && let Some(only) = into.remove("const")
        {
            into.insert("enum".to_owned(), json!([only]));
        }
        let merged = into.get(key).map_or_else(|| new.clone(), |old| both(key, old, new));
        into.insert(key.to_owned(), merged);
    }
}

/// A property that one side does not name falls under that side's `additionalProperties`.
fn properties(a: &Map<String, Value>, b: &Map<String, Value>) -> Option<Value> {
    let named = |side: &Map<String, Value>| side.get("properties").and_then(Value::as_object).cloned();
    let (of_a, of_b) = (named(a), named(b));
    if of_a.is_none() && of_b.is_none() {
        return None;
    }
    let (of_a, of_b) = (of_a.unwrap_or_default(), of_b.unwrap_or_default());
    let mut out = Map::new();
    for name in of_a.keys().chain(of_b.keys()) {
        let in_a = of_a.get(name).or(a.get("additionalProperties"));
        let in_b = of_b.get(name).or(b.get("additionalProperties"));
        let schema = match (in_a, in_b) {
            (Some(x), Some(y)) => all_of(x, y),
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => continue,
        };
        out.insert(name.clone(), schema);
    }
    Some(Value::Object(out))
}

fn both(key: &str, old: &Value, new: &Value) -> Value {
    match key {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            if at_least(old, new) {
                old.clone()
            } else {
                new.clone()
            }
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            if at_least(old, new) {
                new.clone()
            } else {
                old.clone()
            }
        }
        "multipleOf" => common_multiple(old, new),
        "uniqueItems" => json!(old == &json!(true) || new == &json!(true)),
        "required" => union(old, new),
        "enum" => list(old).into_iter().filter(|value| list(new).contains(value)).cloned().collect(),
        "type" => list(old).into_iter().filter_map(|kind| common_type(kind, new)).collect(),
        "items" | "additionalProperties" | "propertyNames" => all_of(old, new),
        "prefixItems" => {
            let (old, new) = (list(old), list(new));
            let pair = |at: usize| match (old.get(at), new.get(at)) {
                (Some(x), Some(y)) => Some(all_of(x, y)),
                (Some(only), None) | (None, Some(only)) => Some((*only).clone()),
                (None, None) => None,
            };
            (0..old.len().max(new.len())).filter_map(pair).collect()
        }
        _ => old.clone(),
    }
}

fn all_of(a: &Value, b: &Value) -> Value {
    if a == b { a.clone() } else { json!({ "allOf": [a, b] }) }
}

/// The elements, or the one value that stands for a list of one.
fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        one => vec![one],
    }
}

fn union(a: &Value, b: &Value) -> Value {
    let mut all = list(a);
    for value in list(b) {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all.into_iter().cloned().collect()
}

fn common_type(kind: &Value, others: &Value) -> Option<Value> {
    let others = list(others);
    let has = |name: &str| others.iter().any(|other| *other == name);
    match kind.as_str()? {
        "number" if has("integer") && !has("number") => Some(json!("integer")),
        "integer" if has("number") => Some(json!("integer")),
        name => has(name).then(|| kind.clone()),
    }
}
