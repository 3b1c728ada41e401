//! A turn of the assistant, in the order in which its parts came: text and calls
//! from the message, so that edited ones count, and the rest as it came, if its API
//! knows such parts in a turn of the assistant. A server that sends another, such
//! as a message of the system, does not speak with the next one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::ext::{CarriedPart, Json};
use llmnode_model::{Message, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Members of the provider's beside a text or a call.
pub(crate) type Beside<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// A part of a turn, in its order.
pub(crate) enum Piece<'a> {
    Text(&'a str, Beside<'a>),
    Call {
        /// Its place among the message's calls.
        at: usize,
        call: &'a ToolCall,
        beside: Beside<'a>,
    },
    Other(&'a RawValue),
}

/// False if text or calls were changed since.
/// By lengths: texts are not kept twice.
pub(crate) fn fits(message: &Message, carried: &[CarriedPart]) -> bool {
    let mut text_bytes = 0_usize;
    let mut calls = 0;
    for part in carried {
        match part {
            CarriedPart::Text { bytes, .. } => text_bytes = text_bytes.saturating_add(*bytes),
            CarriedPart::Call { .. } => calls += 1,
            CarriedPart::Other(_) => {}
        }
    }
    text_bytes == message.content.len() && calls == message.calls().len()
}

/// If text or calls have changed, positions are unknown: nothing stays beside them,
/// and complete parts come first, if they may `outlive` the change.
///
/// `is_known`: whether a complete part is one that its API has in a turn of the assistant.
pub(crate) fn pieces<'a>(
    message: &'a Message,
    carried: &'a [CarriedPart],
    outlive: bool,
    is_known: fn(&RawValue) -> bool,
) -> Vec<Piece<'a>> {
    let mut pieces = in_order(message, carried, outlive);
    pieces.retain(|piece| !matches!(piece, Piece::Other(part) if !is_known(part)));
    pieces
}

/// The `type` of a part. `None`: it has none, or two of them.
pub(crate) fn kind_of(part: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        r#type: Cow<'a, str>,
    }
    let kind: Kind<'_> = serde_json::from_str(part.get()).ok()?;
    Some(kind.r#type)
}

/// The parts in the order in which they came, with the message's own text and calls
/// in their places.
fn in_order<'a>(message: &'a Message, carried: &'a [CarriedPart], outlive: bool) -> Vec<Piece<'a>> {
    let calls = message.calls();
    let mut pieces = Vec::new();
    if let Some(parts) = rewritten(message, carried) {
        return parts;
    }
    if !fits(message, carried) {
        if outlive {
            pieces.extend(carried.iter().filter_map(whole));
        }
        pieces.push(Piece::Text(&message.content, Beside::new()));
        for (at, call) in calls.iter().enumerate() {
            let beside = Beside::new();
            pieces.push(Piece::Call { at, call, beside });
        }
        return pieces;
    }
    let mut rest = message.content.as_str();
    for part in carried {
        match part {
            CarriedPart::Text { bytes, beside } => {
                let (piece, behind) = rest.split_at_checked(*bytes).unwrap_or((rest, ""));
                rest = behind;
                pieces.push(Piece::Text(piece, members(beside.as_ref())));
            }
            CarriedPart::Call { at, beside } => {
                let Some(call) = calls.get(*at) else {
                    continue;
                };
                let beside = members(beside.as_ref());
                pieces.push(Piece::Call {
                    at: *at,
                    call,
                    beside,
                });
            }
            CarriedPart::Other(_) => pieces.extend(whole(part)),
        }
    }
    pieces
}

/// A text in one piece has its place even if it was written anew, as a typed answer
/// is for a history. What stands beside its letters, such as citations, does not
/// outlive that.
fn rewritten<'a>(message: &'a Message, carried: &'a [CarriedPart]) -> Option<Vec<Piece<'a>>> {
    let texts = carried
        .iter()
        .filter(|part| matches!(part, CarriedPart::Text { .. }))
        .count();
    let called = carried
        .iter()
        .any(|part| matches!(part, CarriedPart::Call { .. }));
    if fits(message, carried) || texts != 1 || called || !message.calls().is_empty() {
        return None;
    }
    let pieces = carried.iter().filter_map(|part| match part {
        CarriedPart::Text { beside, .. } => {
            let mut beside = members(beside.as_ref());
            beside.retain(|name, _| !matches!(&**name, "citations" | "part"));
            Some(Piece::Text(&message.content, beside))
        }
        part => whole(part),
    });
    Some(pieces.collect())
}

/// A part that is only passed on.
fn whole(part: &CarriedPart) -> Option<Piece<'_>> {
    match part {
        CarriedPart::Other(json) => Some(Piece::Other(json.raw())),
        _ => None,
    }
}

/// None, if it is no object.
fn members(json: Option<&Json>) -> Beside<'_> {
    match json {
        Some(json) => serde_json::from_str(json.raw().get()).unwrap_or_default(),
        None => Beside::new(),
    }
}

/// For APIs that require an object.
#[cfg(any(feature = "anthropic", feature = "gemini"))]
pub(crate) fn object(arguments: &str) -> Box<RawValue> {
    let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments);
    let object = if read.is_ok() { arguments } else { "{}" };
    RawValue::from_string(object.to_owned()).unwrap_or_default()
}
