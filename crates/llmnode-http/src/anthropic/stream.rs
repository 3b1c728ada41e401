//! A message that comes in events.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use llmnode_model::internal::is_document;
use llmnode_model::{Delta, Sink, TokenUsage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer::{Stop, WireMessage};
use super::blocks::{Block, Head, completion};
use crate::api::ends;
use crate::api::expected_calls::ExpectedCalls;
use crate::api::padding::PaddingWatch;
use crate::api::read_answer::{ReadResult, Unreadable};
use crate::api::unreadable::{broken_off, piece};
use crate::api::wire::{End, StreamedAnswer};
use crate::http::lenient::{Count, object, tokens};
use crate::http::reported::{Figures, Reported, largest};
use crate::http::sse::Event;

/// Later blocks are ignored: servers count from 0.
const MOST_BLOCKS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct PartialMessage {
    head: Head,
    blocks: BTreeMap<u64, Block>,
    bytes: usize,
    has_ended: bool,
    padding: PaddingWatch,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageEvent<'a> {
    r#type: String,
    #[serde(deserialize_with = "tokens")]
    index: Count,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(deserialize_with = "object")]
    content_block: Option<Map<String, Value>>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
}

impl StreamedAnswer for PartialMessage {
    fn read(&mut self, event: Event<'_>, wanted: ExpectedCalls<'_>, sink: &mut dyn Sink) -> ControlFlow<End> {
        let Reported { rest: read, usage } =
            piece::<Reported<'_, MessageEvent<'_>>>(event, serde_json::from_slice)?;
        match &*read.r#type {
            "message_start" => self.start(read.message, sink),
            "content_block_start" => self.start_block(read.index, read.content_block),
            "content_block_delta" => self.add(read.index, read.delta, wanted, sink),
            "message_delta" => self.end(read.delta, &usage, sink),
            "message_stop" => {
                self.has_ended = true;
                return ControlFlow::Break(End::Complete);
            }
            "error" | "message" => return ControlFlow::Break(End::Body(event.data.to_vec())),
            _ => {}
        }
        if self.head.stop.is_none() && self.is_padded() {
            self.head.stop = Some("max_tokens".to_owned());
            return ControlFlow::Break(End::Complete);
        }
        ControlFlow::Continue(())
    }

    fn len(&self) -> usize {
        self.bytes
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.head.usage.figures().0
    }

    fn is_complete(&self) -> bool {
        self.head.stop.as_deref().is_some_and(ends::is_known)
            && self.blocks.values().all(|block| is_document(&block.arguments()))
    }

    fn finish(self: Box<Self>, wanted: ExpectedCalls<'_>) -> ReadResult {
        if self.head.stop.is_none() {
            return Err(Unreadable::failure(broken_off(), None));
        }
        let blocks: Vec<Block> = self.blocks.into_values().collect();
        completion(self.head, &blocks, self.has_ended, wanted)
    }
}

impl PartialMessage {
    fn start(&mut self, message: Option<&RawValue>, sink: &mut dyn Sink) {
        let message = message
            .and_then(|raw| serde_json::from_str::<Reported<'_, WireMessage<'_>>>(raw.get()).ok())
            .unwrap_or_default();
        let (head, _) = message.rest.read(&message.usage);
        (self.head, self.blocks) = (head, BTreeMap::new());
        self.head.stop = None;
        self.head.usage.begins();
        self.report_usage(sink);
    }

    fn start_block(&mut self, index: Count, members: Option<Map<String, Value>>) {
        let at = index.tokens.unwrap_or(self.blocks.len() as u64);
        if self.blocks.len() >= MOST_BLOCKS {
            return;
        }
        let members = members.unwrap_or_default();
        self.bytes += size_of::<Block>() + serde_json::to_vec(&members).map_or(0, |json| json.len());
        self.blocks.insert(at, Block { members, raw: None, input: String::new() });
    }

    fn add(
        &mut self,
        index: Count,
        delta: Option<&RawValue>,
        wanted: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) {
        let Some(delta) = delta else { return };
        let bytes = delta.get().len();
        let Ok(delta) = serde_json::from_str::<Map<String, Value>>(delta.get()) else { return };
        self.bytes += bytes;
        let first = self.blocks.values().position(|block| block.kind() == "tool_use").unwrap_or(usize::MAX);
        let at = index.tokens.unwrap_or(0);
        let is_first_call = self.blocks.keys().position(|key| *key == at) == Some(first);
        if !self.blocks.contains_key(&at) {
            if self.blocks.len() >= MOST_BLOCKS {
                return;
            }
            self.bytes += size_of::<Block>();
        }
        // Some servers leave out the start of a block.
        let block = self.blocks.entry(at).or_insert_with(|| {
            let members = [("type".to_owned(), Value::from("text"))].into_iter().collect();
            Block { members, ..Block::default() }
        });
        for (name, value) in delta {
            match (&*name, value) {
                ("type", _) => {}
                ("partial_json", Value::String(piece)) => {
                    let answers = wanted.function.is_some_and(|function| block.text("name") == function);
                    if answers && is_first_call {
                        sink.delta(Delta::Text(&piece));
                    }
                    block.input += &piece;
                }
                ("citation", citation) => {
                    let list = block.members.entry("citations").or_insert_with(|| Value::Array(Vec::new()));
                    if let Value::Array(list) = list {
                        list.push(citation);
                    }
                }
                (_, value) => {
                    match (&*name, value.as_str()) {
                        // If there is a function for the answer, this may not be the answer.
                        ("text", Some(piece)) if wanted.function.is_none() => sink.delta(Delta::Text(piece)),
                        ("thinking", Some(piece)) => sink.delta(Delta::Reasoning(piece)),
                        _ => {}
                    }
                    match (block.members.get_mut(&name), value) {
                        (Some(Value::String(text)), Value::String(piece)) => text.push_str(&piece),
                        (_, value) => {
                            block.members.insert(name, value);
                        }
                    }
                }
            }
        }
    }

    fn end(&mut self, delta: Option<&RawValue>, usage: &[&RawValue], sink: &mut dyn Sink) {
        if let Some(stop) = delta.and_then(|delta| serde_json::from_str::<Stop<'_>>(delta.get()).ok()) {
            stop.note(&mut self.head);
        }
        if let Some(usage) = largest(usage) {
            self.head.usage.grow(usage);
            self.report_usage(sink);
        }
    }

    fn report_usage(&self, sink: &mut dyn Sink) {
        if let Some(usage) = self.usage() {
            sink.usage(usage);
        }
    }

    fn is_padded(&mut self) -> bool {
        let last = self.blocks.values().next_back();
        last.is_some_and(|block| {
            let written = if block.kind() == "tool_use" { &*block.input } else { block.text("text") };
            self.padding.is_padded(written)
        })
    }
}

#[cfg(test)]
mod tests;
