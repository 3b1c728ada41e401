//! The notations of calls that are read. Nothing is repaired, and a member that
//! stands twice is refused: a call is executed.
//!
//! ```text
//! {"name": "search", "arguments": {..}}       also in a list, and behind [TOOL_CALLS]
//! <tool_call>{"name": .., ..}</tool_call>     several, one behind the other
//! <function=search>{..}</function>            also within <tool_call>
//! ```

use super::call::WrittenCall;
use crate::json::Json;
use crate::repair::{parse, skip_blank};

const TAG: &str = "<tool_call>";
const END_OF_TAG: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const END_OF_FUNCTION: &str = "</function>";
/// Mistral's.
const LIST: &str = "[TOOL_CALLS]";

/// The names that servers have for the arguments.
pub(super) const ARGUMENTS: [&str; 2] = ["arguments", "parameters"];

/// Calls that were read.
pub(super) struct ReadCalls {
    pub(super) calls: Vec<WrittenCall>,
    /// Marks of calls surround them.
    pub(super) marked: bool,
}

/// The calls of a text that is nothing but calls.
pub(super) fn read(text: &str) -> Option<ReadCalls> {
    if let Some(list) = text.strip_prefix(LIST) {
        return Some(ReadCalls {
            calls: listed(list.trim())?,
            marked: true,
        });
    }
    if !text.starts_with('<') {
        return Some(ReadCalls {
            calls: listed(text)?,
            marked: false,
        });
    }
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (of_tag, behind) = tagged(rest)?;
        calls.extend(of_tag);
        rest = behind.trim_start();
    }
    Some(ReadCalls {
        calls,
        marked: true,
    })
}

/// The calls of one tag, and what follows it.
fn tagged(text: &str) -> Option<(Vec<WrittenCall>, &str)> {
    if text.starts_with(FUNCTION) {
        let (call, behind) = function(text)?;
        return Some((vec![call], behind));
    }
    let inner = text.strip_prefix(TAG)?.trim_start();
    let (calls, rest) = if inner.starts_with(FUNCTION) {
        let (call, rest) = function(inner)?;
        (vec![call], rest)
    } else {
        let (json, rest) = json_at(inner)?;
        (calls_of(json)?, rest)
    };
    let behind = rest.trim_start().strip_prefix(END_OF_TAG)?;
    Some((calls, behind))
}

/// `<function=name>{..}</function>`, and what follows it.
fn function(text: &str) -> Option<(WrittenCall, &str)> {
    let (name, inner) = text.strip_prefix(FUNCTION)?.split_once('>')?;
    let (arguments, rest) = json_at(inner.trim_start())?;
    if !matches!(arguments, Json::Object(_)) {
        return None;
    }
    let behind = rest.trim_start().strip_prefix(END_OF_FUNCTION)?;
    let arguments = arguments.to_string();
    let written = format!("{FUNCTION}{name}>{arguments}{END_OF_FUNCTION}");
    let call = WrittenCall {
        name: name.trim().to_owned(),
        arguments,
        id: None,
        written,
    };
    Some((call, behind))
}

/// The calls of JSON that is all of the text.
fn listed(text: &str) -> Option<Vec<WrittenCall>> {
    let (json, behind) = json_at(text)?;
    if !behind.trim().is_empty() {
        return None;
    }
    calls_of(json)
}

/// The JSON that a text begins with, and what follows it.
fn json_at(text: &str) -> Option<(Json<'_>, &str)> {
    let begin = skip_blank(text, 0);
    let parsed = parse(text, begin, false).ok()?;
    Some((parsed.json, &text[parsed.end..]))
}

/// One call, or a list of calls and of nothing else.
fn calls_of(json: Json<'_>) -> Option<Vec<WrittenCall>> {
    match json {
        Json::Array(calls) if !calls.is_empty() => calls.into_iter().map(call_of).collect(),
        call @ Json::Object(_) => Some(vec![call_of(call)?]),
        _ => None,
    }
}

/// A call, with the members that servers have for one. With any other member the
/// object is something else.
fn call_of(json: Json<'_>) -> Option<WrittenCall> {
    let written = json.to_string();
    let Json::Object(members) = json else {
        return None;
    };
    let mut name = None;
    let mut arguments = None;
    let mut id = None;
    for (key, value) in members {
        match (&*key, value) {
            ("name", Json::String(text)) => name = Some(text.into_owned()),
            ("id", Json::String(text)) => id = Some(text.into_owned()),
            ("id", _) => {}
            ("type", Json::String(kind)) if kind == "function" => {}
            (key, value) if ARGUMENTS.contains(&key) && arguments.is_none() => {
                arguments = Some(object_of(&value)?);
            }
            _ => return None,
        }
    }
    Some(WrittenCall {
        name: name?,
        arguments: arguments?,
        id,
        written,
    })
}

/// The arguments as compact JSON. They may be JSON as a text.
fn object_of(arguments: &Json<'_>) -> Option<String> {
    if matches!(arguments, Json::Object(_)) {
        return Some(arguments.to_string());
    }
    let (json, behind) = json_at(arguments.as_text()?)?;
    let is_object = matches!(json, Json::Object(_));
    (is_object && behind.trim().is_empty()).then(|| json.to_string())
}
