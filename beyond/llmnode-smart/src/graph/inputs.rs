//! The inputs of a smart node: values of the state, or the last message.

use llmnode_graph::NodeContext;
use llmnode_runtime::{Category, NodeError};
use serde_json::{Map, Value};

use crate::signature::Signature;

pub(super) fn inputs(
    signature: &Signature,
    visit: &NodeContext<'_>,
) -> Result<Map<String, Value>, NodeError> {
    let names: Vec<&str> = signature
        .inputs
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    let of_state: Map<String, Value> = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), visit.value(name)?.clone())))
        .collect();
    if of_state.is_empty() {
        return from_message(&names, visit);
    }
    match names.iter().find(|name| !of_state.contains_key(**name)) {
        None => Ok(of_state),
        Some(missing) => {
            let message = format!(
                "the node `{}` reads the value {missing:?}, which is not there",
                visit.id()
            );
            Err(NodeError::new(Category::PrepError, message))
        }
    }
}

fn from_message(names: &[&str], visit: &NodeContext<'_>) -> Result<Map<String, Value>, NodeError> {
    let text = visit.state().last_text();
    if text.trim().is_empty() {
        let message = format!(
            "the node `{}` has nothing to read: no value of the state is called {}, and there is no message",
            visit.id(),
            names
                .iter()
                .map(|name| format!("{name:?}"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        return Err(NodeError::new(Category::PrepError, message));
    }
    let read = serde_json::from_str::<Value>(text)
        .ok()
        .and_then(|json| from_json(names, &json));
    Ok(read.unwrap_or_else(|| {
        names
            .first()
            .map(|name| ((*name).to_owned(), Value::from(text)))
            .into_iter()
            .collect()
    }))
}

/// Also from the `params` of the message. `None`: it has none of the inputs.
fn from_json(names: &[&str], json: &Value) -> Option<Map<String, Value>> {
    let of_params = match json.get("params") {
        Some(Value::Object(members)) => by_name(names, members),
        Some(Value::Array(values)) => match values.first() {
            Some(Value::Object(members)) => by_name(names, members),
            Some(_) => Some(
                names
                    .iter()
                    .zip(values)
                    .map(|(name, value)| ((*name).to_owned(), value.clone()))
                    .collect(),
            ),
            None => None,
        },
        _ => None,
    };
    of_params.or_else(|| by_name(names, json.as_object()?))
}

fn by_name(names: &[&str], members: &Map<String, Value>) -> Option<Map<String, Value>> {
    let found: Map<_, _> = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), members.get(*name)?.clone())))
        .collect();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::{Value, json};

    use super::from_json;

    #[test]
    fn case_92_members_of_a_message() {
        let read = |json: Value| from_json(&["a", "b"], &json).map(Value::Object);
        for (message, inputs) in [
            (json!({"params": {"b": 2, "c": 3}}), Some(json!({"b": 2}))),
            (
                json!({"params": [{"a": 1}, {"a": 2}]}),
                Some(json!({"a": 1})),
            ),
            (
                json!({"params": ["x", "y", "z"]}),
                Some(json!({"a": "x", "b": "y"})),
            ),
            (json!({"params": [], "a": 1}), Some(json!({"a": 1}))),
            (json!({"a": 1, "b": [2]}), Some(json!({"a": 1, "b": [2]}))),
            (json!({"c": 1}), None),
            (json!([1]), None),
        ] {
            assert_eq!(read(message.clone()), inputs, "{message}");
        }
    }
}
