//! Calls of tools that a model wrote as its text, because its server does not
//! recognise them as calls.
//!
//! In comes a whole answer; out goes what it is ([`written_calls`]):
//!
//! 1. thoughts are taken away, as from every answer, and a fence around all of it
//!    where the answer is typed;
//! 2. what is left is *read* if it is nothing but calls in one of three notations:
//!    JSON, alone or in `<tool_call>` tags, `<function=name>{..}</function>`, and
//!    `[TOOL_CALLS]` with JSON behind it (`notation`);
//! 3. what is left is *not read* if it is nothing but markup of calls in another
//!    notation, such as harmony's `to=functions.name` or Qwen's `<parameter=..>`
//!    (`unread`): guessing what such a text calls is not worth a wrong call.
//!
//! Anything else is a text. A call inside other text is data, too: [`attempted`]
//! only names it for a complaint.
//!
//! Nobody may execute what is read here before [`Shown`] has said that it does not
//! stand in what the model was shown: a model repeats documents.

mod attempted;
mod call;
mod notation;
mod plain;
mod shown;
mod unread;

pub use self::attempted::attempted;
pub use self::call::{InText, WrittenCall};
pub use self::shown::Shown;

use self::notation::ReadCalls;
use super::find::{enclosed_in_fence, without_thoughts};

/// The calls that a text consists of. `None`: it is a text.
///
/// `tools`: the names of those that are listed. `typed`: calls may be fenced, which
/// in raw text is how models show JSON to people, and calls without marks may name
/// an unknown tool.
pub fn written_calls(text: &str, tools: &[&str], typed: bool) -> Option<InText> {
    let answer = without_thoughts(text).map(|(answer, _)| answer);
    let text = answer.as_deref().unwrap_or(text).trim();
    let text = if typed {
        enclosed_in_fence(text).unwrap_or(text)
    } else {
        text
    };
    let text = without_stray_fence(text);
    // Most answers are ruled out by their first character.
    let calls = match text.chars().next()? {
        '{' | '[' | '<' => notation::read(text),
        _ => None,
    };
    let Some(ReadCalls { calls, marked }) = calls else {
        return unread::unread_calls(text, tools);
    };
    // JSON that happens to look like a call of something is more likely an answer.
    let are_calls = typed || marked || calls.iter().all(|call| tools.contains(&call.name.as_str()));
    are_calls.then_some(InText::Calls { calls, marked })
}

/// Qwen2.5-Coder on llama.cpp closes a fence that it has not opened.
fn without_stray_fence(text: &str) -> &str {
    if !text.starts_with(['{', '[']) {
        return text;
    }
    match text.strip_suffix("```") {
        Some(inner) if !inner.contains("```") => inner.trim_end(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 2] = ["search", "count"];

    fn read(text: &str, typed: bool) -> Option<Vec<String>> {
        match written_calls(text, &TOOLS, typed)? {
            InText::Calls { calls, .. } => Some(
                calls
                    .iter()
                    .map(|call| format!("{}{}", call.name, call.arguments))
                    .collect(),
            ),
            InText::Unread { .. } => None,
        }
    }

    #[test]
    fn a_whole_answer_is_a_call() {
        for (text, called) in [
            (
                r#" {"name": "search", "arguments": {"word": "a"}} "#,
                &[r#"search{"word":"a"}"#][..],
            ),
            (
                r#"{"type": "function", "id": "1", "name": "count", "parameters": {}}"#,
                &["count{}"],
            ),
            (
                r#"{"name": "search", "arguments": "{\"word\": \"a\"}"}"#,
                &[r#"search{"word":"a"}"#],
            ),
            (
                r#"[{"name": "count", "arguments": {}}, {"name": "search", "arguments": {}}]"#,
                &["count{}", "search{}"],
            ),
            (
                r#"<think>so</think> {"name": "count", "arguments": {}}"#,
                &["count{}"],
            ),
            (
                r#"<tool_call>{"name": "count", "arguments": {}}</tool_call>"#,
                &["count{}"],
            ),
            (
                "<tool_call>\n{\"name\": \"count\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"search\", \"arguments\": {}}\n</tool_call>",
                &["count{}", "search{}"],
            ),
            (
                r#"<tool_call>{"name": "find", "arguments": {}}</tool_call>"#,
                &["find{}"],
            ),
            (
                r#"<function=search>{"word": "a </function> b"}</function>"#,
                &[r#"search{"word":"a </function> b"}"#],
            ),
            (
                "<tool_call>\n<function=count>{}</function>\n</tool_call>",
                &["count{}"],
            ),
            (
                "<function=count>{}</function>\n<function=count>{}</function>",
                &["count{}", "count{}"],
            ),
            (
                r#"[TOOL_CALLS][{"name": "search", "arguments": {"word": "a"}}]"#,
                &[r#"search{"word":"a"}"#],
            ),
            (
                r#"[TOOL_CALLS] {"name": "count", "arguments": {}}"#,
                &["count{}"],
            ),
        ] {
            assert_eq!(read(text, false).unwrap_or_default(), called, "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        let call = r#"{"name": "count", "arguments": {"n": 12345678901234567890.10, "m": 1e2}}"#;
        let quoted =
            r#"{"name": "count", "arguments": "{\"n\": 12345678901234567890.10, \"m\": 1e2}"}"#;
        for text in [
            call,
            quoted,
            r#"<function=count>{"n": 12345678901234567890.10, "m": 1e2}</function>"#,
        ] {
            assert_eq!(
                read(text, false).unwrap(),
                [r#"count{"n":12345678901234567890.10,"m":1e2}"#],
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_is_a_text() {
        for text in [
            r#"I call {"name": "search", "arguments": {}}"#,
            r#"{"name": "search", "arguments": {}} now"#,
            r#"{"name": "delete", "arguments": {}}"#,
            r#"{"name": "search"}"#,
            r#"{"name": "search", "arguments": [1]}"#,
            r#"{"name": "search", "arguments": {}, "reason": "why not"}"#,
            r#"{"name": "search", "name": "count", "arguments": {}}"#,
            r#"{"name": "search", "arguments": {},}"#,
            r#"{"name": "search", "arguments": "{\"a\": 1, \"a\": 2}"}"#,
            r#"[{"name": "count", "arguments": {}}, 5]"#,
            r#"{"tool": {"name": "search", "arguments": {}}}"#,
            "```json\n{\"name\": \"search\", \"arguments\": {}}\n```",
            r#"<tool_call>{"name": "search", "arguments": {}}</tool_call> now"#,
            r#"I call <tool_call>{"name": "search", "arguments": {}}</tool_call>"#,
            "<tool_call> is the tag around a call of search.",
            "<tool_call>",
            "[TOOL_CALLS] comes before a list",
            "<function>count</function>, as in Lua",
            "<function name=\"open\">Opens a file.</function>",
            "[count the functions](https://example.com/call)",
            "Write to=functions.search in harmony.",
            "to=functions",
            "<p>search</p>",
            "<button>Search</button>",
            "[]",
            "",
        ] {
            assert_eq!(written_calls(text, &TOOLS, false), None, "{text}");
        }
    }

    #[test]
    fn a_fence_around_all_is_no_other_text_where_the_output_is_typed() {
        let call = r#"{"name": "search", "arguments": {}}"#;
        let fenced = format!("```json\n{call}\n```");
        assert!(read(&fenced, true).is_some() && read(&fenced, false).is_none());
        let closed = format!("{call}\n```");
        assert!(read(&closed, true).is_some() && read(&closed, false).is_some());
        let others = [
            format!("{call}\n```\n```"),
            format!("{fenced}\n{fenced}"),
            format!("{fenced} now"),
        ];
        for text in others.iter().map(String::as_str).chain([
            "",
            " ",
            "<think>so</think>",
            "```",
            "```\n```",
        ]) {
            assert_eq!(read(text, true), None, "{text}");
        }
        assert!(
            read(r#"{"name": "find", "arguments": {}}"#, true).is_some(),
            "an unknown name"
        );
    }

    #[test]
    fn other_notations_are_known_and_not_read() {
        for text in [
            r#"commentary to=functions.search json{"word":"a"}"#,
            r#"<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"word":"a"}<|call|>"#,
            r#"<|start|>assistant<|channel|>commentary to=functions.search <|message|>{"word":"a"}"#,
            r#"analysisI must look.assistantcommentary to=functions.search json{"word":"a"}"#,
            "<tool_call>\n<function=search>\n<parameter=word>\na\n</parameter>\n</function>\n</tool_call>",
            "<function=search>\n<parameter=word>a</parameter>\n</function>",
            r#"<tool_call>{"name": "search", "arguments": {"word": "a"}}"#,
            r#"<tool_call>{"name": "search", "arguments": {"word": "a}</tool_call>"#,
            "<tool_call>search<arg_key>word</arg_key><arg_value>a</arg_value></tool_call>",
            r#"[TOOL_CALLS]search{"word":"a"}"#,
            r#"[TOOL_CALLS]search[ARGS]{"word":"a"}"#,
            r#"<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0<|tool_call_argument_begin|>{"word":"a"}<|tool_call_end|>"#,
            r#"<function_calls><invoke name="search"><parameter name="word">a</parameter></invoke></function_calls>"#,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>{\"word\":\"a\"}<｜tool▁call▁end｜>",
        ] {
            let tool = Some("search".to_owned());
            assert_eq!(
                written_calls(text, &TOOLS, false),
                Some(InText::Unread { tool }),
                "{text}"
            );
        }
        let unknown = r#"commentary to=functions.find json{"word":"a"}"#;
        assert_eq!(
            written_calls(unknown, &TOOLS, false),
            Some(InText::Unread { tool: None })
        );
    }
}
