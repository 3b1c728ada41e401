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
    details: Option<&RawValue>,
    reasoning: Option<&str>,
) -> Vec<CarriedPart> {
    let member = |name: &str, value: Cow<'_, RawValue>| {
        Json::of(&std::collections::BTreeMap::from([(name, value)])).map(CarriedPart::Other)
    };
    let worded = |name: &str, words: Option<&str>| {
        member(name, Cow::Owned(serde_json::value::to_raw_value(words?).ok()?))
    };
    let details = details.filter(|details| details.get() != "[]");
    // The same in other words, if there is more.
    let reasoning = reasoning.filter(|_| thought.is_none() && details.is_none());
    let thought = worded("reasoning_content", thought).or_else(|| worded("reasoning", reasoning));
    let details = details.and_then(|details| member("reasoning_details", Cow::Borrowed(details)));
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
    thought.into_iter().chain(details).chain(beside).collect()
}

/// OpenRouter's `reasoning_details`: joins the pieces of one thought.
pub(super) fn join_details(all: &mut Vec<Map<String, Value>>, pieces: &RawValue) {
    for piece in serde_json::from_str::<Vec<Map<String, Value>>>(pieces.get()).unwrap_or_default() {
        let same = |last: &&mut Map<String, Value>| {
            // Encrypted thoughts of several calls have one index, and each its call's id.
            let other = matches!((last.get("id"), piece.get("id")), (Some(Value::String(last)), Some(Value::String(id))) if last != id);
            !other && ["type", "index"].iter().all(|name| last.get(*name) == piece.get(*name))
        };
        let Some(last) = all.last_mut().filter(same) else {
            all.push(piece);
            continue;
        };
        for (name, value) in piece {
            match (last.get_mut(&name), value) {
                (Some(Value::String(text)), Value::String(more))
                    if matches!(&*name, "text" | "summary" | "data") =>
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
