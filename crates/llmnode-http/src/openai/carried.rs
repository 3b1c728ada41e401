//! What servers of this API put beside text and calls, and want back with the calls.

use std::borrow::Cow;

use llmnode_model::internal::{CarriedPart, Json};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::calls::ToolCall;

#[derive(Serialize)]
struct BesideCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a RawValue>,
}

/// An object for each member that the message does not model.
pub(super) fn parts(
    calls: &[ToolCall<'_>],
    thought: Option<&str>,
    lists: [Option<&RawValue>; 2],
    reasoning: Option<&str>,
) -> Vec<CarriedPart> {
    let member = |name: &str, value: Cow<'_, RawValue>| {
        Json::of(&std::collections::BTreeMap::from([(name, value)])).map(CarriedPart::Other)
    };
    let worded = |name: &str, words: Option<&str>| {
        member(name, Cow::Owned(serde_json::value::to_raw_value(words?).ok()?))
    };
    let lists = lists.map(|list| list.filter(|list| !matches!(list.get(), "[]" | "null")));
    // The same in other words, if there is more.
    let reasoning = reasoning.filter(|_| thought.is_none() && lists.iter().all(Option::is_none));
    let thought = worded("reasoning_content", thought).or_else(|| worded("reasoning", reasoning));
    let lists = ["reasoning_details", "thinking_blocks"].into_iter().zip(lists);
    let lists = lists.filter_map(|(name, list)| member(name, Cow::Borrowed(list?)));
    let called = calls.iter().filter(|call| call.function.is_some()).enumerate();
    let beside = called.map(|(at, call)| {
        let ToolCall { extra_content, thought_signature, .. } = *call;
        let is_any = extra_content.or(thought_signature).is_some();
        let beside = Json::of(&BesideCall { extra_content, thought_signature }).filter(|_| is_any);
        CarriedPart::Call { at, beside }
    });
    // If one has such members, all are listed, so that a missing call is noticed.
    let mut beside: Vec<CarriedPart> = beside.collect();
    if beside.iter().all(|part| matches!(part, CarriedPart::Call { beside: None, .. })) {
        beside.clear();
    }
    thought.into_iter().chain(lists).chain(beside).collect()
}

/// Joins the pieces of one thought of OpenRouter's `reasoning_details` or LiteLLM's `thinking_blocks`.
pub(super) fn join_thoughts(all: &mut Vec<Map<String, Value>>, pieces: &RawValue) {
    for piece in serde_json::from_str::<Vec<Map<String, Value>>>(pieces.get()).unwrap_or_default() {
        let same = |last: &&mut Map<String, Value>| {
            // Encrypted thoughts of several calls have one index, and each its call's id.
            let other = matches!((last.get("id"), piece.get("id")), (Some(Value::String(last)), Some(Value::String(id))) if last != id);
            // What has no index ends with its signature, or comes at once.
            let is_signed = last
                .get("signature")
                .is_some_and(|signature| signature.as_str() != Some("") && !signature.is_null());
            let is_complete = !last.contains_key("index") && (is_signed || last.contains_key("data"));
            !other && !is_complete && ["type", "index"].iter().all(|name| last.get(*name) == piece.get(*name))
        };
        let Some(last) = all.last_mut().filter(same) else {
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
