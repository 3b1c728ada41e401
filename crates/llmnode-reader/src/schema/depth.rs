//! Bounds the depth of schemas, by what readers of JSON accept and by a thread's stack.
//!
//! It comes first: whatever follows calls itself for each level of a schema.
//! Nothing here does so beyond the bound, also not to drop what was cut off.

use serde_json::{Value, json};

use crate::tree::{children_mut, holds_schemas};

/// Two levels of JSON for a property: with the request around it, below the 128
/// that most readers accept.
pub(super) const MAX_DEPTH: usize = 56;
/// Of a value in a schema, such as a default: how much further it may go down.
const MAX_VALUE_DEPTH: usize = 6;

/// Deeper schemas allow anything, other deeper keywords are removed. Returns
/// whether there were any.
pub(super) fn bound(schema: &mut Value) -> bool {
    bound_within(schema, MAX_DEPTH)
}

/// The same of a schema that may have so many levels.
fn bound_within(schema: &mut Value, left: usize) -> bool {
    if left == 0 && has_schemas(schema) {
        dismantle(std::mem::replace(schema, json!({})));
        return true;
    }
    let Some(node) = schema.as_object_mut() else {
        let is_deep = is_deeper(schema, MAX_VALUE_DEPTH);
        if is_deep {
            dismantle(std::mem::replace(schema, json!({})));
        }
        return is_deep;
    };
    let mut deep_keys = Vec::new();
    for (key, value) in node.iter() {
        if !holds_schemas(key, value) && is_deeper(value, MAX_VALUE_DEPTH) {
            deep_keys.push(key.clone());
        }
    }
    let mut truncated = !deep_keys.is_empty();
    for key in deep_keys {
        dismantle(node.shift_remove(&key).unwrap_or_default());
    }
    for (_, child) in children_mut(node) {
        truncated |= bound_within(child, left.saturating_sub(1));
    }
    truncated
}

fn has_schemas(schema: &Value) -> bool {
    match schema.as_object() {
        Some(node) => node.iter().any(|(key, value)| holds_schemas(key, value)),
        None => false,
    }
}

/// Whether a value has more than so many levels of lists and objects.
fn is_deeper(value: &Value, most: usize) -> bool {
    let mut inner: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => return false,
    };
    match most.checked_sub(1) {
        Some(less) => inner.any(|value| is_deeper(value, less)),
        None => inner.next().is_some(),
    }
}

/// Not recursive: dropping a `Value` takes stack for each level.
fn dismantle(value: Value) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

/// How many values it has.
pub(super) fn size(value: &Value) -> usize {
    let mut open = vec![value];
    let mut found = 0;
    while let Some(value) = open.pop() {
        found += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `json!` itself goes as deep as its value.
    fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
        Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    fn nested(levels: usize, around: fn(Value) -> Value) -> Value {
        (0..levels).fold(json!({"type": "string"}), |inner, _| around(inner))
    }

    fn deep_list() -> Value {
        (0..200_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
    }

    #[test]
    fn what_is_too_deep_is_cut_to_what_allows_anything() {
        for around in [
            |inner| object([("items", inner)]),
            |inner| object([("properties", object([("a", inner)]))]),
            |inner| object([("anyOf", Value::Array(vec![inner, json!({"type": "null"})]))]),
        ] as [fn(Value) -> Value; 3]
        {
            let mut fits = nested(MAX_DEPTH, around);
            assert!(!bound(&mut fits) && fits == nested(MAX_DEPTH, around));
            for levels in [MAX_DEPTH + 1, 200_000] {
                let mut deep = nested(levels, around);
                assert!(bound(&mut deep));
                let expected = (0..MAX_DEPTH).fold(json!({}), |inner, _| around(inner));
                assert_eq!(deep, expected);
                assert!(
                    serde_json::from_str::<Value>(&deep.to_string()).is_ok(),
                    "readers of JSON take it"
                );
            }
        }
    }

    #[test]
    fn keywords_that_hold_deep_values_are_left_out() {
        let mut schema = object([
            ("type", json!("string")),
            ("default", json!([[1]])),
            ("const", deep_list()),
            ("properties", deep_list()),
        ]);
        assert!(bound(&mut schema));
        assert_eq!(schema, json!({"type": "string", "default": [[1]]}));
        let mut no_schema = deep_list();
        assert!(bound(&mut no_schema) && no_schema == json!({}));
    }
}
