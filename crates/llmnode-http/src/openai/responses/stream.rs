//! A response that comes in events. The last one has all of it, and counts.
//!
//! So the pieces are only shown to whoever reads along, and counted for the
//! timeouts; the answer is read from the last event like a response in one piece.
//! Servers that leave the items out of it get them from the events in which each
//! item ended.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use llmnode_model::{Delta, Sink, TokenUsage};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::answer::MOST_ITEMS;
use crate::api::expected_calls::ExpectedCalls;
use crate::api::padding::{PaddingWatch, estimate_unreported};
use crate::api::read_answer::{ReadResult, Unreadable};
use crate::api::unreadable::{as_error_body, broken_off, broken_piece, piece};
use crate::api::wire::{End, StreamedAnswer};
use crate::http::lenient::{Count, known_text, object, text, tokens};
use crate::http::reported::from_json;
use crate::http::sse::Event;

#[derive(Debug, Default)]
pub(super) struct PartialResponse {
    /// By position, since some servers change an item's id with each event.
    begun: BTreeMap<u64, Begun>,
    /// Those of them that are calls.
    calls: BTreeSet<u64>,
    /// By position, and in order where items share one.
    done: BTreeMap<(u64, usize), Box<RawValue>>,
    /// Where the item of a position and a call is.
    places: BTreeMap<(u64, String), usize>,
    /// The answer so far, to see whether it is only padded any more.
    text: String,
    /// How much memory it takes.
    bytes: usize,
    /// Of texts and arguments, in bytes.
    content: usize,
    /// Of thoughts, in bytes.
    thoughts: usize,
    /// Of whole items, in bytes.
    items: usize,
    /// The item that began last is no text and no call, or has nothing yet.
    is_silent: bool,
    padding: PaddingWatch,
}

/// Of an item that has begun: enough to know what its pieces are.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Begun {
    r#type: Option<String>,
    name: Option<String>,
    phase: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseEvent<'a> {
    #[serde(borrow, deserialize_with = "text")]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(deserialize_with = "tokens")]
    output_index: Count,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

impl StreamedAnswer for PartialResponse {
    fn read(
        &mut self,
        event: Event<'_>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<End> {
        let ResponseEvent {
            r#type,
            delta,
            output_index,
            item,
            response,
        } = piece(event, from_json)?;
        let at = output_index.tokens.unwrap_or(0);
        let kind = r#type.unwrap_or_default();
        if self.begun.len().max(self.done.len()) > MOST_ITEMS {
            let fault = format!("it is item {MOST_ITEMS}, and no answer has as many");
            return ControlFlow::Break(End::Failure(broken_piece(fault)));
        }
        match &*kind {
            // Nearly all events are these.
            "response.output_text.delta" | "response.function_call_arguments.delta" => {
                let delta = known_delta(delta)?;
                if !delta.is_empty() {
                    self.content += delta.len();
                    self.is_silent = false;
                    self.add(&kind, at, &delta, expected, sink);
                }
            }
            "response.output_item.added" => self.begin(at, item),
            "response.output_item.done" => self.end(at, item),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let delta = known_delta(delta)?;
                self.is_silent = true;
                self.thoughts += delta.len();
                sink.delta(Delta::Reasoning(&delta));
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let whole = response.map(|response| End::Body(self.whole(response)));
                return ControlFlow::Break(whole.unwrap_or(End::Complete));
            }
            "error" => return ControlFlow::Break(End::Body(as_error_body(event.data))),
            // An error without a type, or a complete response.
            "" => return ControlFlow::Break(End::Body(event.data.to_vec())),
            _ => {}
        }
        if self.padding.is_padded(&self.text) {
            estimate_unreported(self.usage(), sink);
            // As if the server had stopped at the limit: the answer is whole.
            let content = json!([{"type": "output_text", "text": self.text}]);
            let cut = json!({
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [{"type": "message", "content": content}]
            });
            return ControlFlow::Break(End::Body(cut.to_string().into_bytes()));
        }
        ControlFlow::Continue(())
    }

    fn len(&self) -> usize {
        self.bytes
    }

    fn content(&self) -> usize {
        self.content
    }

    /// Some servers send whole items alone.
    fn written(&self) -> usize {
        match self.content + self.thoughts {
            0 => self.items,
            pieces => pieces,
        }
    }

    fn works_silently(&self) -> bool {
        self.content == 0 || self.is_silent
    }

    /// Only the last event has it.
    fn usage(&self) -> Option<TokenUsage> {
        None
    }

    fn finish(self: Box<Self>, _: ExpectedCalls<'_>) -> ReadResult {
        Err(Unreadable::failure(broken_off(), None))
    }
}

/// A piece that is no text breaks the answer.
fn known_delta(delta: Option<&RawValue>) -> ControlFlow<End, Cow<'_, str>> {
    let Some(delta) = delta else {
        return ControlFlow::Continue(Cow::Borrowed(""));
    };
    let mut json = serde_json::Deserializer::from_str(delta.get());
    match known_text(&mut json) {
        Ok(piece) => ControlFlow::Continue(piece.unwrap_or_default()),
        Err(error) => {
            let broken = broken_piece(format!("a delta: {error}"));
            ControlFlow::Break(End::Failure(broken))
        }
    }
}

/// Empty for an item that is no call.
fn call_id(item: &RawValue) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Call<'a> {
        #[serde(borrow, deserialize_with = "text")]
        call_id: Option<Cow<'a, str>>,
    }
    let call: Call<'_> = serde_json::from_str(item.get()).unwrap_or_default();
    call.call_id.unwrap_or_default().into_owned()
}

impl PartialResponse {
    /// What a piece belongs to is known from its item's position. An item that cannot
    /// be read begins all the same: the last event has it whole.
    fn begin(&mut self, at: u64, item: Option<&RawValue>) {
        let mut begun = Begun::default();
        self.bytes += size_of::<Begun>();
        if let Some(item) = item {
            self.bytes += item.get().len();
            let mut json = serde_json::Deserializer::from_str(item.get());
            if let Ok(Some(read)) = object(&mut json) {
                begun = read;
            }
        }
        match begun.r#type.as_deref() {
            Some("function_call") => self.calls.insert(at),
            _ => self.calls.remove(&at),
        };
        self.begun.insert(at, begun);
        self.is_silent = true;
    }

    /// An item that is complete is kept for servers that leave it out of the last
    /// event.
    fn end(&mut self, at: u64, item: Option<&RawValue>) {
        if let Some(item) = item {
            self.bytes += item.get().len();
            self.items += item.get().len();
            // Two calls with ids of their own stay two, even if their server counts them as one.
            let next = self.done.len();
            let place = self.places.entry((at, call_id(item)));
            let place = *place.or_insert(next);
            self.done.insert((at, place), item.to_owned());
        }
    }

    fn add(
        &mut self,
        kind: &str,
        at: u64,
        piece: &str,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) {
        if kind == "response.output_text.delta" {
            self.add_text(at, piece, expected, sink);
        } else {
            self.add_arguments(at, piece, expected, sink);
        }
    }

    /// Commentary is shown as thoughts: it is no part of the answer.
    fn add_text(&mut self, at: u64, piece: &str, expected: ExpectedCalls<'_>, sink: &mut dyn Sink) {
        let phase = self.begun.get(&at).and_then(|item| item.phase.as_deref());
        if phase == Some("commentary") {
            return sink.delta(Delta::Reasoning(piece));
        }
        // If there is a function for the answer, this may not be the answer.
        if expected.function.is_none() {
            sink.delta(Delta::Text(piece));
        }
        self.write(piece);
    }

    /// Of the first call, if it is the answer.
    fn add_arguments(
        &mut self,
        at: u64,
        piece: &str,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) {
        if expected.function.is_none() || self.calls.first() != Some(&at) {
            return;
        }
        let Some(call) = self.begun.get(&at) else {
            return;
        };
        if call.name.as_deref() == expected.function {
            sink.delta(Delta::Text(piece));
            self.write(piece);
        }
    }

    fn write(&mut self, piece: &str) {
        self.bytes += piece.len();
        self.text.push_str(piece);
    }

    /// Some servers leave the items out of the last event.
    fn whole(&self, response: &RawValue) -> Vec<u8> {
        match self.with_items(response) {
            Some(whole) => whole,
            None => response.get().as_bytes().to_vec(),
        }
    }

    /// `None`: nothing is missing, or there is nothing to add.
    fn with_items(&self, response: &RawValue) -> Option<Vec<u8>> {
        let mut members: BTreeMap<Cow<'_, str>, &RawValue> =
            serde_json::from_str(response.get()).ok()?;
        let listed = members.get("output").map_or("[]", |output| output.get());
        let listed: Vec<&RawValue> = serde_json::from_str(listed).ok()?;
        if !listed.is_empty() || self.done.is_empty() {
            return None;
        }
        let done: Vec<&RawValue> = self.done.values().map(|item| &**item).collect();
        let items = to_raw_value(&done).ok()?;
        members.insert(Cow::Borrowed("output"), &items);
        serde_json::to_vec(&members).ok()
    }
}

#[cfg(test)]
mod tests;
