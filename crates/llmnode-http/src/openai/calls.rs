//! Function calls: of tools, or of the one function whose arguments are the answer.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::expected_calls::ExpectedCalls;
use crate::http::lenient::{Count, Lenient, LenientVisitor, Object, object, text, tokens};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolCall<'a> {
    #[serde(deserialize_with = "tokens")]
    pub(super) index: Count,
    #[serde(borrow, deserialize_with = "text")]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "object")]
    pub(super) function: Option<FunctionCall<'a>>,
    /// Google's signatures of thoughts.
    #[serde(borrow)]
    pub(super) extra_content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thought_signature: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow, deserialize_with = "text")]
    pub(super) name: Option<Cow<'a, str>>,
    /// A string with JSON; some servers send the JSON itself.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

impl ToolCall<'_> {
    /// It has nothing of a call in it.
    pub(super) fn is_stub(&self) -> bool {
        self.id.as_deref().is_none_or(str::is_empty)
            && self.function.as_ref().is_some_and(FunctionCall::is_empty)
    }
}

impl FunctionCall<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.name.as_deref().is_none_or(str::is_empty) && self.arguments().is_empty()
    }

    pub(super) fn arguments(&self) -> String {
        let raw = self.arguments.map_or("", RawValue::get);
        match serde_json::from_str::<Value>(raw) {
            Ok(Value::String(text)) => text,
            Ok(Value::Null) => String::new(),
            _ => raw.to_owned(),
        }
    }
}

pub(super) fn collect_tool_calls(
    tool_calls: &[ToolCall<'_>],
    single: Option<&FunctionCall<'_>>,
    wanted: ExpectedCalls<'_>,
) -> Vec<llmnode_model::ToolCall> {
    let called = tool_calls.iter().filter_map(|call| Some((call.id.as_deref(), call.function.as_ref()?)));
    let called = called.chain(single.map(|function| (None, function)));
    let is_answer = |name: &str| name.is_empty() || Some(name) == wanted.function;
    let calls = called.map(|(id, function)| {
        let name = function.name.as_deref().unwrap_or_default();
        llmnode_model::ToolCall::new(id.unwrap_or_default(), name, function.arguments())
    });
    let calls: Vec<_> = calls.filter(|_| wanted.tools).collect();
    if wanted.function.is_some() && calls.iter().all(|call| is_answer(&call.name)) {
        Vec::new()
    } else {
        calls
    }
}

pub(super) enum AnswerCall {
    Missing,
    /// Joined, so that the reader refuses different calls as two values.
    Arguments(String),
    Other(String),
}

/// A call without a name counts as one of `function`.
pub(super) fn called(
    tool_calls: Vec<ToolCall<'_>>,
    single: Option<FunctionCall<'_>>,
    function: &str,
) -> AnswerCall {
    let calls = tool_calls.into_iter().filter_map(|call| call.function).chain(single);
    let (ours, others): (Vec<_>, Vec<_>) =
        calls.partition(|call| call.name.as_deref().is_none_or(|name| name.is_empty() || name == function));
    let mut given: Vec<String> = Vec::new();
    for arguments in ours.iter().map(FunctionCall::arguments).filter(|text| !text.trim().is_empty()) {
        if !given.iter().any(|known| is_same_json(known, &arguments)) {
            given.push(arguments);
        }
    }
    match others.into_iter().find_map(|call| call.name) {
        _ if !given.is_empty() => AnswerCall::Arguments(given.join("\n")),
        Some(name) if ours.is_empty() => AnswerCall::Other(name.into_owned()),
        _ => AnswerCall::Missing,
    }
}

fn is_same_json(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<Value>(text).ok();
    one == other || value(one).is_some_and(|one| value(other) == Some(one))
}

struct Calls;

impl<'de> LenientVisitor<'de> for Calls {
    type Value = Vec<ToolCall<'de>>;

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut calls = Vec::new();
        while let Some(call) = list.next_element_seed(Lenient(Object(PhantomData)))? {
            calls.extend(call);
        }
        Ok(calls)
    }
}

pub(super) fn tool_calls<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ToolCall<'de>>, D::Error> {
    Lenient(Calls).deserialize(from)
}
