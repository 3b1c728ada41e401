//! Calls of tools that a model writes as text, because its server does not recognise them as calls.
//!
//! Only a whole answer is one: a call inside prose, or in the result of a tool, is data.

use std::collections::BTreeMap;

use llmnode_model::{Message, Role, ToolCall, ToolSpec};
use llmnode_reader::Reader;
use serde_json::Value;
use serde_json::value::RawValue;

type Written<'t> = BTreeMap<String, &'t RawValue>;

pub(super) struct TextCall {
    pub(super) call: ToolCall,
    written: String,
}

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// The calls that a text consists of: one object or a list, or several in tags, each naming a listed tool. `typed`:
/// they may be fenced, which in raw text is how models show JSON to people, and may name an unknown tool.
pub(super) fn calls(text: &str, tools: &[ToolSpec], typed: bool) -> Option<Vec<TextCall>> {
    let text = without_thoughts(text).trim();
    let text = if typed { without_fence(text) } else { text };
    let text = without_stray_fence(text);
    // Most answers are ruled out by their first character.
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

/// A tool that a text seems to call, though there is more text than the call.
pub(super) fn attempted<'t>(text: &str, tools: &'t [ToolSpec]) -> Option<&'t str> {
    let text = plain(text);
    let mut names = tools.iter().map(|tool| &*tool.name);
    names.find(|name| {
        let member = format!("\"name\":\"{name}\"");
        let mut named = text.match_indices(&member);
        named.any(|(at, _)| has_arguments_beside(&text[..at], &text[at + member.len()..]))
    })
}

fn has_arguments_beside(before: &str, mut behind: &str) -> bool {
    const ARGUMENTS: [&str; 2] = ["\"arguments\":", "\"parameters\":"];
    let other = |text: &str| {
        let value = text.strip_prefix(",\"type\":\"").or_else(|| text.strip_prefix(",\"id\":\""))?;
        Some(value.find('"').map_or(text.len(), |end| text.len() - value.len() + end + 1))
    };
    while let Some(end) = other(behind) {
        behind = &behind[end..];
    }
    let follow =
        behind.strip_prefix(',').is_some_and(|rest| ARGUMENTS.iter().any(|one| rest.starts_with(one)));
    let lead = || {
        let value = ARGUMENTS.iter().find_map(|one| Some(before.rsplit_once(one)?.1));
        before.ends_with(',') && value.is_some_and(|value| value.trim_start_matches('"').starts_with('{'))
    };
    follow || lead()
}

/// The conversation's texts: a model that repeats a document must not execute a call in it.
pub(super) struct Quotable(Vec<String>);

impl Quotable {
    pub(super) fn of(messages: &[Message]) -> Self {
        let given = |message: &&Message| matches!(message.role, Role::System | Role::User | Role::Tool);
        Quotable(messages.iter().filter(given).map(|message| plain(&message.content)).collect())
    }

    pub(super) fn has(&self, TextCall { call, written }: &TextCall) -> bool {
        let name = format!("\"name\":\"{}\"", call.name);
        let (written, read) = (plain(written), plain(&call.arguments));
        let quotes = |text: &String| text.contains(&written) || text.contains(&read);
        self.0.iter().any(|text| text.contains(&name) && quotes(text))
    }
}

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

/// Qwen2.5-Coder on llama.cpp closes a fence that it has not opened.
fn without_stray_fence(text: &str) -> &str {
    let inner = text.strip_suffix("```").filter(|_| text.starts_with(['{', '[']));
    inner.filter(|inner| !inner.contains("```")).map_or(text, str::trim_end)
}

fn listed(text: &str, tools: &[ToolSpec], typed: bool) -> Option<Vec<TextCall>> {
    let (calls, written): (Vec<Value>, Vec<Written<'_>>) = match exact(text)? {
        Value::Array(calls) if !calls.is_empty() => (calls, serde_json::from_str(text).ok()?),
        call @ Value::Object(_) => (vec![call], vec![serde_json::from_str(text).ok()?]),
        _ => return None,
    };
    calls.into_iter().zip(written).map(|(call, written)| one(call, &written, tools, typed)).collect()
}

/// Repairs nothing, and refuses a duplicate member with another value.
fn exact(text: &str) -> Option<Value> {
    let reading = Reader::new().exact(true).whole_text().value(text).ok()?;
    reading.notes.is_empty().then_some(reading.value)
}

fn one(call: Value, written: &Written<'_>, tools: &[ToolSpec], typed: bool) -> Option<TextCall> {
    let Value::Object(mut call) = call else { return None };
    let Some(Value::String(name)) = call.remove("name") else { return None };
    let key = ["arguments", "parameters"].into_iter().find(|key| call.contains_key(*key))?;
    let (arguments, written) = match call.remove(key)? {
        Value::String(text) => (exact(&text)?, text),
        arguments => (arguments, written.get(key)?.get().to_owned()),
    };
    let as_written = compact(&written)?;
    let id = call.remove("id").and_then(|id| id.as_str().map(str::to_owned));
    let is_function = call.remove("type").is_none_or(|kind| kind == "function");
    // Calls that end the conversation or ask a person must be native.
    let may_run = tools.iter().find(|tool| tool.name == name).map_or(typed, |tool| !tool.external);
    let call_of_tool = || ToolCall::new(id.unwrap_or_default(), name.as_str(), as_written);
    (may_run && is_function && arguments.is_object() && call.is_empty())
        .then(|| TextCall { call: call_of_tool(), written })
}

/// Its numbers as they are written: read, they could lose digits.
fn compact(object: &str) -> Option<String> {
    let members: Written<'_> = serde_json::from_str(object).ok()?;
    serde_json::to_string(&members).ok()
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
                .map(|TextCall { call, .. }| format!("{}{}", call.name, call.arguments))
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
        let closed = format!("{call}\n```");
        assert_eq!((count(&closed, true), count(&closed, false)), (1, 1));
        for text in [
            format!("{tagged} now"),
            format!("{call}\n```\n```"),
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
        let tools = ["search"].map(|name| ToolSpec::new(name, "", OutputSchema::of::<bool>()));
        let quotes = |document: Message, text: &str| {
            Quotable::of(&[Message::user("Repeat it."), document]).has(&calls(text, &tools, true).unwrap()[0])
        };
        let call = r#"{"name": "search", "arguments": {"word":"a"}}"#;
        let escaped = r#"x {"name": "search", "arguments": "{\"word\": \"a\"}"}"#;
        assert!(quotes(Message::tool("1", escaped), call) && quotes(Message::system(escaped), call));
        assert!(!quotes(Message::tool("1", r#"x {"name": "search", "arguments": {"word": "b"}}"#), call));
        // As it was written, whatever a number or a letter is when it is read.
        for arguments in [r#"{"n": 1.00}"#, r#"{"n": 1e2}"#, r#"{"b": 1, "a": 2}"#, r#"{"n": "\u0041"}"#] {
            let call = format!(r#"{{"name": "search", "arguments": {arguments}}}"#);
            assert!(quotes(Message::tool("1", format!("So: {call}.")), &call), "{call}");
            let of_text = Value::String(arguments.to_owned());
            let of_text = format!(r#"{{"name": "search", "arguments": {of_text}}}"#);
            assert!(quotes(Message::tool("1", format!("So: {call}.")), &of_text), "{of_text}");
        }
        assert!(calls(r#"{"name": "search", "arguments": "{\"a\": 1, \"a\": 2}"}"#, &tools, true).is_none());
    }

    #[test]
    fn a_name_without_arguments_is_no_attempt() {
        let tools = ["search"].map(|name| ToolSpec::new(name, "", OutputSchema::of::<bool>()));
        for text in [
            r#"I call {"name": "search", "arguments": {}} now"#,
            r#"I call {"name": "search", "type": "function", "id": "1", "parameters": {"a": 1}"#,
            r#"So {"arguments": {"word": "a"}, "name": "search"}"#,
        ] {
            assert_eq!(attempted(text, &tools), Some("search"), "{text}");
        }
        for text in [
            r#"{"name": "search", "age": 3}"#,
            r#"{"name": "search", "id": "1"#,
            r#"{"name": "search"}, "arguments" are {}"#,
            r#"{"name": "other", "arguments": {}}"#,
        ] {
            assert_eq!(attempted(text, &tools), None, "{text}");
        }
    }
}
