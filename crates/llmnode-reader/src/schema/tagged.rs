//! Variants that hold a value for which JSON has no place beside the tag.
//!
//! serde takes such a type, and fails at each answer. So it is found in the schema,
//! before a request is sent.

use serde_json::Value;

use crate::tree::{Node, children};

/// Variants of an internally tagged enum (`#[serde(tag = "kind")]`) with a number
/// or a list: schemars merges both into one schema. Strings, bools and `Option`s
/// leave no trace there; `#[llm_output]` finds these in the source.
pub(super) fn unanswerable(schema: &Value) -> Option<String> {
    let node = schema.as_object()?;
    fault(node).or_else(|| children(node).find_map(unanswerable))
}

/// Of a variant that is an object by its tag, and something else by its keywords.
fn fault(node: &Node) -> Option<String> {
    const OF_NO_OBJECT: [&str; 5] = ["format", "minimum", "maximum", "items", "prefixItems"];
    let is_object = node.get("type")? == "object";
    let is_other_too = OF_NO_OBJECT
        .iter()
        .any(|keyword| node.contains_key(*keyword));
    if !is_object || !is_other_too {
        return None;
    }
    for (tag, schema) in node.get("properties")?.as_object()? {
        let Some(variant) = schema.get("const").and_then(Value::as_str) else {
            continue;
        };
        return Some(format!(
            "the variant `{variant}` holds a value that is not an object, so it has no place \
             beside the tag `{tag}`; give it a named field, or write `content = \"value\"` beside \
             `tag`"
        ));
    }
    None
}

#[cfg(test)]
#[expect(dead_code, reason = "only their schemas are looked at")]
mod tests {
    use schemars::{JsonSchema, schema_for};
    use serde::Serialize;

    use super::*;

    type Count = u8;

    #[derive(Serialize, JsonSchema)]
    struct Named {
        count: u8,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Tagged<T> {
        Held(T),
        Plain,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(tag = "kind", content = "value")]
    enum Beside {
        Held(Count),
    }

    #[test]
    fn numbers_and_lists_beside_a_tag_are_found_wherever_they_stand() {
        let fault = |schema: schemars::Schema| unanswerable(schema.as_value());
        let found = fault(schema_for!(Vec<Tagged<Count>>)).unwrap();
        assert!(found.starts_with(
            "the variant `Held` holds a value that is not an object, so it has no place beside the \
             tag `kind`"
        ));
        assert!(
            fault(schema_for!(Tagged<f32>)).is_some()
                && fault(schema_for!(Tagged<Vec<Named>>)).is_some()
        );
        for fine in [
            schema_for!(Tagged<Named>),
            schema_for!(Beside),
            schema_for!(Vec<Named>),
        ] {
            assert_eq!(fault(fine), None);
        }
    }
}
