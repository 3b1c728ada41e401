//! What servers of this API put beside text and calls, and want back with them.
//!
//! Reasoning that a server wants back (DeepSeek, Moonshot, OpenRouter, LiteLLM),
//! and Google's signatures beside calls. It goes back as it came and only to the
//! model that wrote it; servers that refuse it teach the handle to leave it out.

use llmnode_model::ext::{CarriedPart, Json};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::calls::ToolCall;
use crate::api::pieces::Beside;

/// The members of a message that are carried.
pub(super) const MEMBERS: [&str; 4] = [
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "thinking_blocks",
];

/// Of one call.
#[derive(Serialize)]
struct BesideCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a RawValue>,
}

/// An object for each member that the message does not model.
///
/// In the order of the message: thoughts, then the calls. Servers write the same
/// thoughts in several members: `reasoning` goes back only where nothing else has
/// them.
pub(super) fn parts(
    calls: &[ToolCall<'_>],
    thought: Option<&str>,
    lists: [Option<&RawValue>; 2],
    reasoning: Option<&str>,
) -> Vec<CarriedPart> {
    let has_words = thought.is_some() || reasoning.is_some();
    if calls.is_empty() && !has_words && lists.iter().all(Option::is_none) {
        return Vec::new();
    }
    let lists = lists.map(|list| list.filter(|list| !matches!(list.get(), "[]" | "null")));
    // Where there is more, `reasoning` only repeats it.
    let reasoning = reasoning.filter(|_| thought.is_none() && lists.iter().all(Option::is_none));
    let thought =
        text_member("reasoning_content", thought).or_else(|| text_member("reasoning", reasoning));
    let lists = ["reasoning_details", "thinking_blocks"]
        .into_iter()
        .zip(lists);
    let lists = lists.filter_map(|(name, list)| member(name, list?));
    let called = calls
        .iter()
        .filter(|call| call.function.is_some())
        .enumerate();
    let beside = called.map(|(at, call)| {
        let ToolCall {
            extra_content,
            thought_signature,
            ..
        } = *call;
        let is_any = extra_content.or(thought_signature).is_some();
        let beside = Json::of(&BesideCall {
            extra_content,
            thought_signature,
        })
        .filter(|_| is_any);
        CarriedPart::Call { at, beside }
    });
    // If one has such members, all are listed, so that a missing call is noticed.
    let mut beside: Vec<CarriedPart> = beside.collect();
    if beside
        .iter()
        .all(|part| matches!(part, CarriedPart::Call { beside: None, .. }))
    {
        beside.clear();
    }
    thought.into_iter().chain(lists).chain(beside).collect()
}

/// Joins the pieces of one thought, as they come in a stream, of OpenRouter's `reasoning_details` or LiteLLM's
/// `thinking_blocks`.
pub(super) fn join_thoughts(all: &mut Vec<Map<String, Value>>, pieces: &RawValue) {
    // One after the other: an object takes many times the memory of its bytes.
    let pieces = serde_json::from_str::<Vec<&RawValue>>(pieces.get()).unwrap_or_default();
    for piece in pieces
        .into_iter()
        .filter_map(|piece| serde_json::from_str::<Map<String, Value>>(piece.get()).ok())
    {
        let Some(last) = all.last_mut().filter(|last| continues(last, &piece)) else {
            all.push(piece);
            continue;
        };
        for (name, value) in piece {
            match (last.get_mut(&name), value) {
                (Some(Value::String(text)), Value::String(more))
                    if matches!(&*name, "text" | "thinking" | "summary" | "data") =>
                {
                    text.push_str(&more);
                }
                (_, Value::Null) => {}
                (_, value) => {
                    last.insert(name, value);
                }
            }
        }
    }
}

/// Whether the member is a text, and not empty.
fn has_text(object: &Map<String, Value>, name: &str) -> bool {
    object
        .get(name)
        .and_then(Value::as_str)
        .is_some_and(|text| !text.is_empty())
}

/// Encrypted thoughts of several calls have one index, and each its call's id. A
/// block without an index is complete once it is signed or encrypted.
fn continues(last: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let is_complete =
        !last.contains_key("index") && (has_text(last, "signature") || has_text(last, "data"));
    let is_other = has_text(last, "id")
        && piece
            .get("id")
            .is_some_and(|id| id.is_string() && last.get("id") != Some(id));
    !is_complete
        && !is_other
        && ["type", "index"]
            .iter()
            .all(|name| last.get(*name) == piece.get(*name))
}

/// A member of the message that goes back as it came.
fn member(name: &str, value: &RawValue) -> Option<CarriedPart> {
    let mut object = Beside::new();
    object.insert(name.into(), value);
    Json::of(&object).map(CarriedPart::Other)
}

fn text_member(name: &str, text: Option<&str>) -> Option<CarriedPart> {
    member(name, &serde_json::value::to_raw_value(text?).ok()?)
}
