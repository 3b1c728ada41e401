//! Function calls: of tools, or of the one function whose arguments are the answer.
//!
//! A call is read strictly where calls were asked for, since one that is left out
//! would change what the model said, and leniently where none was: gateways put all
//! kinds of things into these members.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::ModelError;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::expected_calls::ExpectedCalls;
use crate::api::unreadable::broken_piece;
use crate::http::lenient::{Count, known_object, known_objects, known_text, text, tokens};

/// Of a message, or a piece of one in a delta.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolCall<'a> {
    #[serde(deserialize_with = "tokens")]
    pub(super) index: Count,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) r#type: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "known_object")]
    pub(super) function: Option<FunctionCall<'a>>,
    /// Google's signatures of thoughts.
    #[serde(borrow)]
    pub(super) extra_content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thought_signature: Option<&'a RawValue>,
}

/// The calls of a message or a delta. They are pieces of the answer only where some were asked for.
#[derive(Debug, Default)]
pub(super) struct ToolCalls<'a> {
    pub(super) calls: Vec<ToolCall<'a>>,
    /// Why they cannot be read.
    broken: Option<String>,
}

impl<'a> ToolCalls<'a> {
    pub(super) fn of(calls: Vec<ToolCall<'a>>) -> Self {
        ToolCalls {
            calls,
            broken: None,
        }
    }

    /// A fault of calls that nobody asked for is no fault of the answer.
    pub(super) fn check(&self, expected: ExpectedCalls<'_>) -> Result<(), ModelError> {
        match &self.broken {
            Some(why) if expected.tools || expected.function.is_some() => {
                Err(broken_piece(format!("`tool_calls`: {why}")))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a fault counts, `check` decides.
pub(super) fn tool_calls<'de, D: Deserializer<'de>>(from: D) -> Result<ToolCalls<'de>, D::Error> {
    let raw = <&RawValue>::deserialize(from)?;
    let mut list = serde_json::Deserializer::from_str(raw.get());
    match known_objects(&mut list) {
        Ok(calls) => Ok(ToolCalls::of(calls)),
        Err(error) => Ok(ToolCalls {
            calls: Vec::new(),
            broken: Some(error.to_string()),
        }),
    }
}

/// A name and arguments; in a delta, pieces of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow, deserialize_with = "known_text")]
    pub(super) name: Option<Cow<'a, str>>,
    /// A string with JSON; some servers send the JSON itself.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

impl ToolCall<'_> {
    /// It has nothing of a call in it.
    pub(super) fn is_stub(&self) -> bool {
        match &self.function {
            Some(function) => !self.has_id() && function.is_empty(),
            None => false,
        }
    }

    /// It is a call of a function, and has none.
    pub(super) fn lacks_function(&self) -> bool {
        let is_function = match self.r#type.as_deref() {
            Some(kind) => kind == "function",
            None => true,
        };
        self.function.is_none() && self.has_id() && is_function
    }

    fn has_id(&self) -> bool {
        match self.id.as_deref() {
            Some(id) => !id.is_empty(),
            None => false,
        }
    }
}

impl FunctionCall<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.name.as_deref().is_none_or(str::is_empty) && self.arguments().is_empty()
    }

    /// The call of a tool with this id.
    fn called_by(&self, id: &str) -> llmnode_model::ToolCall {
        let name = self.name.as_deref().unwrap_or_default();
        llmnode_model::ToolCall::new(id, name, self.arguments())
    }

    /// The JSON of the arguments, whichever way it is written.
    pub(super) fn arguments(&self) -> String {
        let raw = self.arguments.map_or("", RawValue::get);
        match serde_json::from_str::<Value>(raw) {
            Ok(Value::String(text)) => text,
            Ok(Value::Null) => String::new(),
            _ => raw.to_owned(),
        }
    }
}

/// The calls of tools. If all are of the function for the answer, there are none:
/// then their arguments are the answer. One call of a tool beside it makes all of
/// them a turn, in which the answer's function is told to wait.
pub(super) fn collect_tool_calls(
    tool_calls: &[ToolCall<'_>],
    single: Option<&FunctionCall<'_>>,
    expected: ExpectedCalls<'_>,
) -> Vec<llmnode_model::ToolCall> {
    if !expected.tools {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for call in tool_calls {
        if let Some(function) = &call.function {
            let id = call.id.as_deref().unwrap_or_default();
            calls.push(function.called_by(id));
        }
    }
    if let Some(function) = single {
        calls.push(function.called_by(""));
    }
    if let Some(function) = expected.function {
        let are_answers = calls
            .iter()
            .all(|call| call.name.is_empty() || call.name == function);
        if are_answers {
            return Vec::new();
        }
    }
    calls
}

/// What the model did in place of writing text.
pub(super) enum AnswerCall {
    Missing,
    /// Joined, so that the reader refuses different calls as two values.
    Arguments(String),
    Other(String),
}

/// A call without a name counts as one of `function`.
/// Repeated calls with the same arguments are one.
pub(super) fn called(
    tool_calls: Vec<ToolCall<'_>>,
    single: Option<FunctionCall<'_>>,
    function: &str,
) -> AnswerCall {
    let calls = tool_calls
        .into_iter()
        .filter_map(|call| call.function)
        .chain(single);
    let (ours, others): (Vec<_>, Vec<_>) = calls.partition(|call| {
        call.name
            .as_deref()
            .is_none_or(|name| name.is_empty() || name == function)
    });
    let mut arguments: Vec<String> = Vec::new();
    for call in &ours {
        let text = call.arguments();
        let is_known = arguments.iter().any(|earlier| is_same_json(earlier, &text));
        if !text.trim().is_empty() && !is_known {
            arguments.push(text);
        }
    }
    if !arguments.is_empty() {
        return AnswerCall::Arguments(arguments.join("\n"));
    }
    match others.into_iter().find_map(|call| call.name) {
        Some(name) if ours.is_empty() => AnswerCall::Other(name.into_owned()),
        _ => AnswerCall::Missing,
    }
}

/// Compared without regard to the order of members.
fn members(text: &str) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(text).ok()
}

fn items(text: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(text).ok()
}

fn are_same_json<'a>(
    one: impl Iterator<Item = &'a &'a RawValue>,
    other: impl Iterator<Item = &'a &'a RawValue>,
) -> bool {
    one.zip(other)
        .all(|(one, other)| is_same_json(one.get(), other.get()))
}

/// Numbers are compared as they are written: read, two of many digits may be one.
fn is_same_json(one: &str, other: &str) -> bool {
    if let (Some(one), Some(other)) = (members(one), members(other)) {
        return one.keys().eq(other.keys()) && are_same_json(one.values(), other.values());
    }
    if let (Some(one), Some(other)) = (items(one), items(other)) {
        return one.len() == other.len() && are_same_json(one.iter(), other.iter());
    }
    one.trim() == other.trim()
}
