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
) -> Vec<CarriedPart> {
    let member = |name: &str, value: Cow<'_, RawValue>| {
        Json::of(&std::collections::BTreeMap::from([(name, value)])).map(CarriedPart::Other)
    };
    let thought = thought.filter(|thought| !thought.is_empty());
    let thought = thought.and_then(|thought| serde_json::value::to_raw_value(thought).ok());
    let thought = thought.and_then(|thought| member("reasoning_content", Cow::Owned(thought)));
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
            ["type", "index"].iter().all(|name| last.get(*name) == piece.get(*name))
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
