//! From OpenAI's strict subset to that of Anthropic's structured outputs, which has
//! no bounds, no recursion and few unions.
//! <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>
//!
//! Bounds are said in words: they are checked when the answer is read. Recursion
//! and many unions cannot be said, so that then there is no such dialect, and the
//! type is asked for in another way.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::strict::describe;

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

/// `None`: it is beyond the subset.
pub(super) fn subset(strict: &Value) -> Option<Value> {
    let mut subset = strict.clone();
    let mut unions = 0;
    rewrite(&mut subset, &mut unions);
    let is_within = unions <= UNIONS && !is_recursive(strict);
    is_within.then_some(subset)
}

/// Moves bounds into descriptions, and counts the unions.
fn rewrite(schema: &mut Value, unions: &mut usize) {
    match schema {
        Value::Array(schemas) => {
            for schema in schemas {
                rewrite(schema, unions);
            }
        }
        Value::Object(node) => {
            for (keyword, inner) in node.iter_mut() {
                match (keyword.as_str(), inner) {
                    ("properties" | "$defs", Value::Object(named)) => {
                        for schema in named.values_mut() {
                            rewrite(schema, unions);
                        }
                    }
                    ("items" | "anyOf", inner) => rewrite(inner, unions),
                    _ => {}
                }
            }
            let has_types = matches!(node.get("type"), Some(Value::Array(_)));
            *unions += usize::from(has_types || node.contains_key("anyOf"));
            into_description(node, &BOUNDS);
        }
        _ => {}
    }
}

/// Moves these keywords into the description.
pub(super) fn into_description(node: &mut Map<String, Value>, keywords: &[&str]) {
    let mut notes = Vec::new();
    for keyword in keywords {
        // The subset takes these two numbers.
        let is_taken = *keyword == "minItems"
            && matches!(node.get(*keyword).and_then(Value::as_u64), Some(0 | 1));
        if is_taken {
            continue;
        }
        if let Some(value) = node.shift_remove(*keyword) {
            notes.push(format!("{keyword}: {value}"));
        }
    }
    describe(node, notes);
}

/// Whether a definition leads to itself, or anything to the root.
pub(super) fn is_recursive(strict: &Value) -> bool {
    let mut targets = BTreeSet::new();
    references(strict, &mut targets);
    if targets.contains("#") {
        return true;
    }
    let Some(Value::Object(defs)) = strict.get("$defs") else {
        return false;
    };
    defs.keys().any(|name| leads_to_itself(name, defs))
}

fn leads_to_itself(name: &str, defs: &Map<String, Value>) -> bool {
    let pointer = format!("#/$defs/{name}");
    let mut reached = BTreeSet::new();
    let mut open = vec![pointer.clone()];
    while let Some(target) = open.pop() {
        let Some(name) = target.strip_prefix("#/$defs/") else {
            continue;
        };
        let Some(definition) = defs.get(name) else {
            continue;
        };
        let mut next = BTreeSet::new();
        references(definition, &mut next);
        for target in next {
            if reached.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    reached.contains(&pointer)
}

/// All references in a schema. A member that has the name of the keyword may be
/// taken for one, which only makes it recursive.
fn references(schema: &Value, to: &mut BTreeSet<String>) {
    match schema {
        Value::Array(schemas) => {
            for schema in schemas {
                references(schema, to);
            }
        }
        Value::Object(node) => {
            if let Some(Value::String(reference)) = node.get("$ref") {
                to.insert(reference.clone());
            }
            for schema in node.values() {
                references(schema, to);
            }
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
