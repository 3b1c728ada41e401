//! The APIs of models, and fields of requests for one of them.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An API that models are asked by: what `extra_on` names, to add a field to the
/// requests of that API alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApiKind {
    /// OpenAI's chat completions, and what speaks them.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

impl fmt::Display for ApiKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ApiKind::Chat => "chat",
            ApiKind::Responses => "responses",
            ApiKind::Anthropic => "anthropic",
            ApiKind::Gemini => "gemini",
        })
    }
}

/// Objects are merged, lists are joined, and anything else is replaced.
pub fn join_field(fields: &mut Map<String, Value>, name: &str, value: &Value) {
    match (fields.get_mut(name), value) {
        (Some(Value::Object(existing)), Value::Object(more)) => {
            more.iter()
                .for_each(|(name, value)| join_field(existing, name, value));
        }
        (Some(Value::Array(existing)), Value::Array(more)) => existing.extend(more.iter().cloned()),
        _ => {
            fields.insert(name.to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_merged_and_lists_joined() {
        let Value::Object(mut fields) = json!({"a": {"b": {"c": 1}, "d": [1]}, "e": [1], "f": 1})
        else {
            return;
        };
        for (name, value) in [
            ("a", json!({"b": {"x": 2}, "d": [2]})),
            ("e", json!([2])),
            ("f", json!([2])),
            ("g", json!(2)),
        ] {
            join_field(&mut fields, name, &value);
        }
        let joined =
            json!({"a": {"b": {"c": 1, "x": 2}, "d": [1, 2]}, "e": [1, 2], "f": [2], "g": 2});
        assert_eq!(Value::Object(fields), joined);
    }

    #[test]
    fn names_are_those_of_the_json() {
        for wire in [
            ApiKind::Chat,
            ApiKind::Responses,
            ApiKind::Anthropic,
            ApiKind::Gemini,
        ] {
            assert_eq!(serde_json::to_value(wire).unwrap(), wire.to_string());
        }
    }
}
