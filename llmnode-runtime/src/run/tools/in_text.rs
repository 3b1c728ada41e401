//! Calls of tools that a model writes as text, because its server does not recognise them as calls.
//!
//! Only a whole answer is one: a call inside prose, or in the result of a tool, is data.

use llmnode_model::{ToolCall, ToolSpec};
use serde_json::{Map, Value};

/// The calls that a text consists of: one object or a list, each with the name of a listed tool and its arguments.
pub(super) fn calls(text: &str, tools: &[ToolSpec]) -> Option<Vec<ToolCall>> {
    // For most answers the first character shows that they are not calls.
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    match serde_json::from_str(text).ok()? {
        Value::Array(calls) if !calls.is_empty() => calls.into_iter().map(|call| one(call, tools)).collect(),
        call @ Value::Object(_) => Some(vec![one(call, tools)?]),
        _ => None,
    }
}

fn one(call: Value, tools: &[ToolSpec]) -> Option<ToolCall> {
    let Value::Object(mut call) = call else { return None };
    let Some(Value::String(name)) = call.remove("name") else { return None };
    let arguments: Map<String, Value> =
        match call.remove("arguments").or_else(|| call.remove("parameters"))? {
            Value::Object(arguments) => arguments,
            Value::String(arguments) => serde_json::from_str(&arguments).ok()?,
            _ => return None,
        };
    let id = call.remove("id").and_then(|id| id.as_str().map(str::to_owned));
    let is_function = call.remove("type").is_none_or(|kind| kind == "function");
    let is_tool = tools.iter().any(|tool| tool.name == name);
    let call_of_tool =
        || ToolCall::new(id.unwrap_or_default(), name.as_str(), Value::Object(arguments).to_string());
    (is_tool && is_function && call.is_empty()).then(call_of_tool)
}

#[cfg(test)]
mod tests {
    use llmnode_reader::OutputSchema;

    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        let tools = ["search", "count"].map(|name| ToolSpec::new(name, "", OutputSchema::of::<bool>()));
        Some(
            calls(text, &tools)?.into_iter().map(|call| format!("{}{}", call.name, call.arguments)).collect(),
        )
    }

    #[test]
    fn a_whole_answer_is_a_call() {
        for (text, called) in [
            (r#" {"name": "search", "arguments": {"word": "a"}} "#, &[r#"search{"word":"a"}"#][..]),
            (r#"{"type": "function", "id": "1", "name": "count", "parameters": {}}"#, &["count{}"]),
            (r#"{"name": "search", "arguments": "{\"word\": \"a\"}"}"#, &[r#"search{"word":"a"}"#]),
            (
                r#"[{"name": "count", "arguments": {}}, {"name": "search", "arguments": {}}]"#,
                &["count{}", "search{}"],
            ),
        ] {
            assert_eq!(names(text).unwrap(), called, "{text}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            r#"I call {"name": "search", "arguments": {}}"#,
            r#"{"name": "search", "arguments": {}} now"#,
            r#"{"name": "delete", "arguments": {}}"#,
            r#"{"name": "search"}"#,
            r#"{"name": "search", "arguments": [1]}"#,
            r#"{"name": "search", "arguments": {}, "reason": "why not"}"#,
            r#"[{"name": "count", "arguments": {}}, 5]"#,
            r#"{"tool": {"name": "search", "arguments": {}}}"#,
            "[]",
            "",
        ] {
            assert_eq!(names(text), None, "{text}");
        }
    }
}
