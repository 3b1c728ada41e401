//! A message that comes in events.
//!
//! `message_start` has the head, then each block has `content_block_start`, deltas,
//! `content_block_stop`; `message_delta` has the reason of the end and the usage,
//! `message_stop` ends it. Servers that speak this API leave some of them out,
//! number blocks twice, or put a whole message into one event; each of these is
//! read, since the answer is there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use llmnode_model::ext::is_document;
use llmnode_model::{Delta, ModelError, Sink, TokenUsage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::answer::{Stop, WireMessage};
use super::blocks::{Block, BlockKind, Head, MOST_BLOCKS, completion};
use super::usage::MessageUsage;
use crate::api::ends;
use crate::api::expected_calls::ExpectedCalls;
use crate::api::padding::{PaddingWatch, estimate_unreported};
use crate::api::read_answer::{ReadResult, Unreadable};
use crate::api::unreadable::{broken_off, broken_piece, piece};
use crate::api::wire::{End, StreamedAnswer};
use crate::http::lenient::{Count, object, tokens};
use crate::http::reported::{self, Figures, Reporting};
use crate::http::sse::Event;

/// The state of one message, event by event. `bytes` bounds its memory, `content`
/// tells the timeouts whether the model writes.
#[derive(Debug, Default)]
pub(super) struct PartialMessage {
    head: Head,
    /// By index, so that they stand in order, whatever order they came in.
    blocks: BTreeMap<u64, Block>,
    /// Those of them that are calls.
    calls: BTreeSet<u64>,
    /// Of calls that share an index: where the newest of them is.
    moved: BTreeMap<u64, u64>,
    /// How much memory it takes.
    bytes: usize,
    /// Of texts and arguments, in bytes.
    content: usize,
    /// Of thoughts, in bytes.
    thoughts: usize,
    current: Option<Current>,
    /// `message_stop` has come.
    has_ended: bool,
    padding: PaddingWatch,
}

/// The block that began last, and how much content there was before it.
/// To know whether the newest block has got anything yet.
#[derive(Debug)]
struct Current {
    at: u64,
    before: usize,
}

/// The members of all events together; which ones are there follows from the type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MessageEvent<'a> {
    r#type: String,
    #[serde(deserialize_with = "tokens")]
    index: Count,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(deserialize_with = "object")]
    usage: Option<MessageUsage>,
}

impl<'a> Reporting<'a> for MessageEvent<'a> {
    type Figures = MessageUsage;

    fn usage(&mut self) -> &mut Option<MessageUsage> {
        &mut self.usage
    }
}

impl StreamedAnswer for PartialMessage {
    /// Unknown events are passed over: the API says that new ones may come.
    fn read(
        &mut self,
        event: Event<'_>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<End> {
        let read: MessageEvent<'_> = piece(event, reported::read)?;
        match &*read.r#type {
            "message_start" => until_error(self.start(read.message, expected, sink))?,
            "content_block_start" => {
                until_error(self.start_block(read.index, read.content_block, expected, sink))?
            }
            "content_block_delta" => until_error(self.add(read.index, read.delta, expected, sink))?,
            "message_delta" => self.end(read.delta, read.usage, sink),
            "message_stop" => {
                self.has_ended = true;
                return ControlFlow::Break(End::Complete);
            }
            "error" | "message" => return ControlFlow::Break(End::Body(event.data.to_vec())),
            _ => {}
        }
        // Some models write white space without end behind a whole answer. It is
        // taken as what a limit would have cut.
        if self.head.stop.is_none() && self.is_padded() {
            estimate_unreported(self.usage(), sink);
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

    fn content(&self) -> usize {
        self.content
    }

    fn written(&self) -> usize {
        self.content + self.thoughts
    }

    /// A block of text or of a call may begin long before its first piece.
    fn works_silently(&self) -> bool {
        let Some(Current { at, before }) = &self.current else {
            return true;
        };
        let kind = self.blocks.get(at).map(|block| block.kind);
        let is_answer = matches!(kind, Some(BlockKind::Text | BlockKind::ToolUse));
        !is_answer || self.content == *before
    }

    /// Whether a connection that breaks now has cost nothing: the reason of the end
    /// is known, and no arguments are half.
    fn is_complete(&self) -> bool {
        let Some(stop) = self.head.stop.as_deref() else {
            return false;
        };
        let mut blocks = self.blocks.values();
        ends::is_known(stop) && blocks.all(|block| is_document(&block.arguments()))
    }

    fn finish(self: Box<Self>, expected: ExpectedCalls<'_>) -> ReadResult {
        if self.head.stop.is_none() {
            return Err(Unreadable::failure(broken_off(), None));
        }
        let blocks: Vec<Block> = self.blocks.into_values().collect();
        completion(self.head, &blocks, self.has_ended, expected)
    }
}

impl PartialMessage {
    /// A second `message_start` begins anew: a gateway has asked another server.
    fn start(
        &mut self,
        message: Option<&RawValue>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ModelError> {
        let message: WireMessage<'_> = match message.map(RawValue::get) {
            None | Some("null") => WireMessage::default(),
            Some(message) => reported::read(message.as_bytes()).map_err(broken_piece)?,
        };
        let (head, blocks) = message.read();
        self.head = head;
        self.blocks.clear();
        self.calls.clear();
        self.moved.clear();
        self.head.stop = None;
        self.head.usage.begins();
        self.report_usage(sink);
        // The API has none here; other servers may.
        for (at, block) in blocks?.unwrap_or_default().into_iter().enumerate() {
            self.begin(at as u64, block, expected, sink)?;
        }
        Ok(())
    }

    /// A block begins at an index of its own, or at the next one, if the server gives
    /// none.
    fn start_block(
        &mut self,
        index: Count,
        block: Option<&RawValue>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ModelError> {
        let block = block.ok_or_else(|| broken_piece("the start of a block has none"))?;
        let at = index.tokens.unwrap_or(self.blocks.len() as u64);
        let block = Block::whole_of(block)?;
        let place = self.place_of_start(at, &block);
        self.begin(place, block, expected, sink)
    }

    /// Where the block of this index is, after calls were moved apart.
    fn place(&self, index: u64) -> u64 {
        self.moved.get(&index).copied().unwrap_or(index)
    }

    /// Two calls with ids of their own stay two, even if their server counts them as one.
    fn place_of_start(&mut self, index: u64, block: &Block) -> u64 {
        let at = self.place(index);
        let is_another = match self.blocks.get(&at) {
            Some(earlier) if earlier.is_call() && block.is_call() => {
                earlier.text("id") != block.text("id")
            }
            _ => false,
        };
        if !is_another {
            return at;
        }
        let last = self.blocks.keys().next_back().copied().unwrap_or(at);
        let next = last.saturating_add(1);
        self.moved.insert(index, next);
        next
    }

    /// A block begins, possibly with all that it has: what is there is shown and
    /// counted now. Whether it is a call is noted by its place, since only the first
    /// call can be the answer.
    fn begin(
        &mut self,
        at: u64,
        block: Block,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ModelError> {
        self.take_room()?;
        if let Some(raw) = &block.raw {
            self.bytes += raw.get().len();
        }
        match block.kind {
            BlockKind::Text if expected.function.is_none() => {
                sink.delta(Delta::Text(block.text("text")))
            }
            BlockKind::Thinking => {
                self.thoughts += block.text("thinking").len();
                sink.delta(Delta::Reasoning(block.text("thinking")));
            }
            _ => {}
        }
        self.current = Some(Current {
            at,
            before: self.content,
        });
        if block.kind == BlockKind::Text {
            self.content += block.text("text").len();
        }
        match block.is_call() {
            true => self.calls.insert(at),
            false => self.calls.remove(&at),
        };
        self.blocks.insert(at, block);
        Ok(())
    }

    /// Bounds the number of blocks as well as their bytes.
    fn take_room(&mut self) -> Result<(), ModelError> {
        if self.blocks.len() >= MOST_BLOCKS {
            let fault = format!("it is block {MOST_BLOCKS}, and no answer has as many");
            return Err(broken_piece(fault));
        }
        self.bytes += size_of::<Block>();
        Ok(())
    }

    /// One delta may have several members; each goes to the block, and to whoever
    /// listens.
    fn add(
        &mut self,
        index: Count,
        delta: Option<&RawValue>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ModelError> {
        let delta = delta.ok_or_else(|| broken_piece("a delta is missing"))?;
        let members: Map<String, Value> =
            serde_json::from_str(delta.get()).map_err(broken_piece)?;
        self.bytes += delta.get().len();
        let at = self.place(index.tokens.unwrap_or(0));
        let is_first_call = self.calls.first() == Some(&at);
        if !self.blocks.contains_key(&at) {
            self.take_room()?;
            self.current = Some(Current {
                at,
                before: self.content,
            });
        }
        // Some servers leave out the start of a block.
        let block = self.blocks.entry(at).or_insert_with(Block::of_text);
        for (name, value) in members {
            match (&*name, value.as_str()) {
                // If there is a function for the answer, text may not be the answer.
                ("text", Some(piece)) => {
                    self.content += piece.len();
                    if expected.function.is_none() {
                        sink.delta(Delta::Text(piece));
                    }
                }
                ("thinking", Some(piece)) => {
                    self.thoughts += piece.len();
                    sink.delta(Delta::Reasoning(piece));
                }
                ("partial_json", Some(piece)) => {
                    self.content += piece.len();
                    if let Some(function) = expected.function
                        && block.text("name") == function
                        && is_first_call
                    {
                        sink.delta(Delta::Text(piece));
                    }
                }
                _ => {}
            }
            block.add(name, value)?;
        }
        Ok(())
    }

    /// The usage here has totals, so it replaces what the start said.
    fn end(&mut self, delta: Option<&RawValue>, usage: Option<MessageUsage>, sink: &mut dyn Sink) {
        if let Some(delta) = delta
            && let Ok(stop) = serde_json::from_str::<Stop<'_>>(delta.get())
        {
            stop.note(&mut self.head);
        }
        if let Some(usage) = usage {
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
        let Some(last) = self.blocks.values().next_back() else {
            return false;
        };
        let written = match last.is_call() {
            true => &*last.input,
            false => last.text("text"),
        };
        self.padding.is_padded(written)
    }
}

/// A broken event ends the stream with its error.
fn until_error(read: Result<(), ModelError>) -> ControlFlow<End> {
    match read {
        Ok(()) => ControlFlow::Continue(()),
        Err(broken) => ControlFlow::Break(End::Failure(broken)),
    }
}

#[cfg(test)]
mod tests;
