//! Calls of tools that a model writes as text, because its server does not recognise them as calls.
//!
//! Only a whole answer is one: a call inside prose, or in the result of a tool, is data.

use llmnode_model::{Message, Role, ToolCall, ToolSpec};
use llmnode_reader::Reader;
use serde_json::{Map, Value};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// The calls that a text consists of: one object or a list, or several in tags; each with the name of a listed tool and its
/// arguments. `typed`: they may stand in a fence, which in raw text is how models show JSON to people, and may name a tool
/// that is not there.
pub(super) fn calls(text: &str, tools: &[ToolSpec], typed: bool) -> Option<Vec<ToolCall>> {
    let text = without_thoughts(text).trim();
    let text = if typed { without_fence(text) } else { text };
    // For most answers the first character shows that they are not calls.
    match text.chars().next()? {
        '{' | '[' => listed(text, tools, typed),
        '<' => {
            let (mut calls, mut rest) = (Vec::new(), text);
            while !rest.is_empty() {
                let (inner, behind) = rest.strip_prefix(OPEN)?.split_once(CLOSE)?;
                calls.extend(listed(inner.trim(), tools, typed)?);
                rest = behind.trim_start();
            }
            Some(calls)
        }
        _ => None,
    }
}

/// The name of a tool that a text seems to call, though it consists of more than the call.
pub(super) fn attempted<'t>(text: &str, tools: &'t [ToolSpec]) -> Option<&'t str> {
    let text = plain(text);
    let mut names = tools.iter().map(|tool| &*tool.name);
    names.find(|name| text.contains(&format!("\"name\":\"{name}\"")))
}

/// Whether a message has the call: a model that repeats a document must not execute it.
pub(super) fn is_quoted(call: &ToolCall, messages: &[Message]) -> bool {
    let (name, arguments) = (format!("\"name\":\"{}\"", call.name), plain(&call.arguments));
    let quoting = messages.iter().filter(|message| matches!(message.role, Role::User | Role::Tool));
    quoting
        .map(|message| plain(&message.content))
        .any(|text| text.contains(&name) && text.contains(&arguments))
}

/// Without white space and backslashes.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\\').collect()
}

fn without_thoughts(text: &str) -> &str {
    let thoughts = text.trim_start().strip_prefix("<think>");
    thoughts.and_then(|thoughts| Some(thoughts.split_once("</think>")?.1)).unwrap_or(text)
}

fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.map(|inner| inner.strip_prefix("json").unwrap_or(inner)).map(str::trim);
    inner.filter(|inner| !inner.contains("```")).unwrap_or(text)
}

fn listed(text: &str, tools: &[ToolSpec], typed: bool) -> Option<Vec<ToolCall>> {
    // Nothing is repaired, and no member stands twice with two values.
    let reading = Reader::new().exact(true).whole_text().value(text).ok()?;
    match reading.value {
        _ if !reading.notes.is_empty() => None,
        Value::Array(calls) if !calls.is_empty() => {
            calls.into_iter().map(|call| one(call, tools, typed)).collect()
        }
        call @ Value::Object(_) => Some(vec![one(call, tools, typed)?]),
        _ => None,
    }
}

fn one(call: Value, tools: &[ToolSpec], typed: bool) -> Option<ToolCall> {
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
    // What ends the conversation, or asks a person, is called natively or not at all.
    let may_run = tools.iter().find(|tool| tool.name == name).map_or(typed, |tool| !tool.external);
    let call_of_tool =
        || ToolCall::new(id.unwrap_or_default(), name.as_str(), Value::Object(arguments).to_string());
    (may_run && is_function && call.is_empty()).then(call_of_tool)
}

#[cfg(test)]
mod tests {
    use llmnode_reader::OutputSchema;

    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        let tools = ["search", "count"].map(|name| ToolSpec::new(name, "", OutputSchema::of::<bool>()));
        Some(
            calls(text, &tools, false)?
                .into_iter()
                .map(|call| format!("{}{}", call.name, call.arguments))
                .collect(),
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

    #[test]
    fn tags_and_where_the_output_is_typed_a_fence_are_no_other_text() {
        let tools = ["search"].map(|name| ToolSpec::new(name, "", OutputSchema::of::<bool>()));
        let call = r#"{"name": "search", "arguments": {}}"#;
        let count = |text: &str, typed| calls(text, &tools, typed).map_or(0, |calls| calls.len());
        let tagged = format!("<tool_call>{call}</tool_call>");
        assert_eq!((count(&tagged, false), count(&format!("{tagged}\n{tagged}"), false)), (1, 2));
        assert_eq!(count(&format!("<think>so</think>\n{call}"), false), 1);
        let fenced = format!("```json\n{call}\n```");
        assert_eq!((count(&fenced, true), count(&fenced, false)), (1, 0));
        for text in [
            format!("{tagged} now"),
            "<tool_call>".to_owned(),
            r#"{"name": "search", "name": "other", "arguments": {}}"#.to_owned(),
            r#"{"name": "search", "arguments": {},}"#.to_owned(),
        ] {
            assert_eq!(count(&text, true), 0, "{text}");
        }
        let unknown = r#"{"name": "find", "arguments": {}}"#;
        assert_eq!((count(unknown, true), count(unknown, false)), (1, 0));
        let mut external = tools;
        external[0].external = true;
        assert!(calls(call, &external, true).is_none());
    }

    #[test]
    fn a_call_that_the_data_has_is_quoted() {
        let call = ToolCall::new("", "search", r#"{"word":"a"}"#);
        let document = |text: &str| [Message::user("Repeat it."), Message::tool("1", text)];
        assert!(is_quoted(&call, &document(r#"x {"name": "search", "arguments": "{\"word\": \"a\"}"}"#)));
        assert!(!is_quoted(&call, &document(r#"x {"name": "search", "arguments": {"word": "b"}}"#)));
    }
}
