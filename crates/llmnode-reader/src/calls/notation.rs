//! The notations of calls that are read. Nothing is repaired, and a member that stands twice is refused: a call is executed.

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

/// The calls of a text that is nothing but calls, and whether they have marks.
pub(super) fn read(text: &str) -> Option<(Vec<WrittenCall>, bool)> {
    if let Some(list) = text.strip_prefix(LIST) {
        return Some((listed(list.trim())?, true));
    }
    if !text.starts_with('<') {
        return Some((listed(text)?, false));
    }
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (read, behind) = tagged(rest)?;
        calls.extend(read);
        rest = behind.trim_start();
    }
    Some((calls, true))
}

/// The calls of one tag, and what follows it.
fn tagged(text: &str) -> Option<(Vec<WrittenCall>, &str)> {
    if text.starts_with(FUNCTION) {
        let (call, behind) = function(text)?;
        return Some((vec![call], behind));
    }
    let inner = text.strip_prefix(TAG)?.trim_start();
    let (calls, behind) = if inner.starts_with(FUNCTION) {
        let (call, behind) = function(inner)?;
        (vec![call], behind)
    } else {
        let (json, behind) = json_at(inner)?;
        (calls_of(json)?, behind)
    };
    Some((calls, behind.trim_start().strip_prefix(END_OF_TAG)?))
}

/// `<function=name>{..}</function>`, and what follows it.
fn function(text: &str) -> Option<(WrittenCall, &str)> {
    let (name, inner) = text.strip_prefix(FUNCTION)?.split_once('>')?;
    let (arguments, behind) = json_at(inner.trim_start())?;
    let Json::Object(_) = arguments else {
        return None;
    };
    let arguments = arguments.to_string();
    let written = format!("{FUNCTION}{name}>{arguments}{END_OF_FUNCTION}");
    let call = WrittenCall {
        name: name.trim().to_owned(),
        arguments,
        id: None,
        written,
    };
    Some((call, behind.trim_start().strip_prefix(END_OF_FUNCTION)?))
}

fn listed(text: &str) -> Option<Vec<WrittenCall>> {
    let (json, behind) = json_at(text)?;
    behind.trim().is_empty().then(|| calls_of(json))?
}

fn json_at(text: &str) -> Option<(Json<'_>, &str)> {
    let parsed = parse(text, skip_blank(text, 0), false).ok()?;
    Some((parsed.json, &text[parsed.end..]))
}

fn calls_of(json: Json<'_>) -> Option<Vec<WrittenCall>> {
    match json {
        Json::Array(calls) if !calls.is_empty() => calls.into_iter().map(call_of).collect(),
        call @ Json::Object(_) => Some(vec![call_of(call)?]),
        _ => None,
    }
}

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

/// The arguments may be JSON as a text.
fn object_of(arguments: &Json<'_>) -> Option<String> {
    let text = match arguments {
        Json::Object(_) => return Some(arguments.to_string()),
        other => other.as_text()?,
    };
    let (json, behind) = json_at(text)?;
    (matches!(json, Json::Object(_)) && behind.trim().is_empty()).then(|| json.to_string())
}
