//! From OpenAI's strict subset to that of Anthropic's structured outputs, which has no bounds, no recursion and few unions.
//! <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Moved into the description; reading the type checks them.
const BOUNDS: [&str; 8] = [
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];
/// Members whose type is a union, in all.
const UNIONS: usize = 16;

pub(super) fn subset(strict: &Value) -> Option<Value> {
    let mut subset = strict.clone();
    let mut unions = 0;
    rewrite(&mut subset, &mut unions);
    (unions <= UNIONS && !is_recursive(strict)).then_some(subset)
}

fn rewrite(schema: &mut Value, unions: &mut usize) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(|one| rewrite(one, unions)),
        Value::Object(node) => {
            for (name, inner) in node.iter_mut() {
                match inner {
                    Value::Object(named) if matches!(&**name, "properties" | "$defs") => {
                        named.values_mut().for_each(|one| rewrite(one, unions));
                    }
                    _ if matches!(&**name, "items" | "anyOf") => rewrite(inner, unions),
                    _ => {}
                }
            }
            let types = matches!(node.get("type"), Some(Value::Array(_)));
            *unions += usize::from(types || node.contains_key("anyOf"));
            into_description(node, &BOUNDS);
        }
        _ => {}
    }
}

pub(super) fn into_description(node: &mut Map<String, Value>, names: &[&str]) {
    let few =
        |(name, value): (&str, &Value)| name == "minItems" && matches!(value.as_u64(), Some(0 | 1));
    let bounds = names
        .iter()
        .filter(|name| node.get(**name).is_some_and(|value| !few((name, value))));
    let bounds: Vec<&str> = bounds.copied().collect();
    let notes: Vec<_> = bounds
        .iter()
        .filter_map(|name| Some(format!("{name}: {}", node.shift_remove(*name)?)))
        .collect();
    if notes.is_empty() {
        return;
    }
    let before = node
        .get("description")
        .and_then(Value::as_str)
        .map(|text| format!("{text} "));
    let described = format!("{}({})", before.unwrap_or_default(), notes.join(", "));
    node.insert("description".to_owned(), Value::String(described));
}

pub(super) fn is_recursive(strict: &Value) -> bool {
    let defs = strict.get("$defs").and_then(Value::as_object);
    let mut targets = BTreeSet::new();
    references(strict, &mut targets);
    targets.contains("#")
        || defs.into_iter().flatten().any(|(name, _)| {
            let own = format!("#/$defs/{name}");
            let mut reached = BTreeSet::new();
            let mut open = vec![own.clone()];
            while let Some(target) = open.pop() {
                let mut next = BTreeSet::new();
                let inner = target
                    .strip_prefix("#/$defs/")
                    .and_then(|name| defs?.get(name));
                inner
                    .into_iter()
                    .for_each(|inner| references(inner, &mut next));
                open.extend(
                    next.into_iter()
                        .filter(|target| reached.insert(target.clone())),
                );
            }
            reached.contains(&own)
        })
}

fn references(schema: &Value, to: &mut BTreeSet<String>) {
    match schema {
        Value::Array(list) => list.iter().for_each(|one| references(one, to)),
        Value::Object(node) => {
            to.extend(node.get("$ref").and_then(Value::as_str).map(str::to_owned));
            node.values().for_each(|one| references(one, to));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_are_said_in_words_and_names_are_no_keywords() {
        let strict = json!({"type": "object", "additionalProperties": false, "required": ["pattern", "many"], "properties": {
            "pattern": {"type": "integer", "minimum": 0, "maximum": 9, "description": "How."},
            "many": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/One"}},
        }, "$defs": {"One": {"type": ["string", "null"], "pattern": "^a"}}});
        assert_eq!(
            subset(&strict).unwrap(),
            json!({"type": "object", "additionalProperties": false, "required": ["pattern", "many"], "properties": {
                "pattern": {"type": "integer", "description": "How. (minimum: 0, maximum: 9)"},
                "many": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/One"}, "description": "(maxItems: 3)"},
            }, "$defs": {"One": {"type": ["string", "null"], "description": "(pattern: \"^a\")"}}})
        );
    }

    #[test]
    fn recursion_and_many_unions_are_beyond_it() {
        let next = json!({"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]});
        let list = json!({"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "properties": {"next": next}}}});
        assert_eq!(subset(&list), None);
        let of = |many: usize| {
            let members = (0..many).map(|n| (n.to_string(), json!({"type": ["string", "null"]})));
            json!({"type": "object", "properties": members.collect::<Map<_, _>>()})
        };
        assert!(subset(&of(16)).is_some() && subset(&of(17)).is_none());
    }
}
