//! An answer that comes in events, each of which has the form of a whole one.
//!
//! The events are therefore joined by the code that reads whole answers (`gathered.rs`), and `finish` ends in the same function, so
//! that a stream cannot differ from an answer in one piece. An event that is no piece of an answer may be an
//! error, which ends the stream as an error in one piece would.

use std::ops::ControlFlow;

use llmnode_model::{Delta, Sink, TokenUsage};

use super::answer::completion;
use super::gathered::{Gathered, Piece, Response};
use super::usage::UsageMetadata;
use crate::api::ends;
use crate::api::expected_calls::ExpectedCalls;
use crate::api::padding::{PaddingWatch, estimate_unreported};
use crate::api::read_answer::{ReadResult, Unreadable};
use crate::api::unreadable::{broken_off, piece};
use crate::api::wire::{End, StreamedAnswer};
use crate::http::reported;
use crate::http::sse::Event;

/// `called`: whether a call has come, of which only the first may be the answer.
#[derive(Debug, Default)]
pub(super) struct PartialAnswer {
    answer: Gathered,
    reported: Option<TokenUsage>,
    called: bool,
    padding: PaddingWatch,
}

impl StreamedAnswer for PartialAnswer {
    fn read(
        &mut self,
        event: Event<'_>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<End> {
        let response = piece(event, reported::read::<Response<'_>>)?;
        let called = &mut self.called;
        let is_answer = self
            .answer
            .add(response, &mut |piece| show(piece, called, expected, sink));
        if !is_answer && crate::http::error_body::is_error(event.data) {
            return ControlFlow::Break(End::Body(event.data.to_vec()));
        }
        if let Some(broken) = self.answer.broken.take() {
            return ControlFlow::Break(End::Failure(broken));
        }
        if self.answer.finish.is_none() && self.padding.is_padded(&self.answer.text) {
            estimate_unreported(self.usage(), sink);
            self.answer.finish = Some("MAX_TOKENS".to_owned());
            return ControlFlow::Break(End::Complete);
        }
        ControlFlow::Continue(())
    }

    /// Each event repeats the usage so far, so it is reported once for each read.
    fn flush(&mut self, sink: &mut dyn Sink) {
        if let Some(usage) = self.usage().filter(|usage| self.reported != Some(*usage)) {
            self.reported = Some(usage);
            sink.usage(usage);
        }
    }

    fn len(&self) -> usize {
        self.answer.bytes
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.answer.usage_so_far()
    }

    fn content(&self) -> usize {
        self.answer.content
    }

    fn written(&self) -> usize {
        self.answer.written()
    }

    fn works_silently(&self) -> bool {
        self.answer.content == 0 || self.answer.is_silent
    }

    /// The reason of the end came with the last bytes, and so did the usage.
    fn is_complete(&self) -> bool {
        let ends = self.answer.finish.as_deref().is_some_and(ends::is_known);
        let is_last = self.answer.bytes_at_finish == Some(self.answer.bytes);
        ends && is_last
            && self
                .answer
                .usage
                .as_ref()
                .is_some_and(UsageMetadata::counts_output)
    }

    fn finish(self: Box<Self>, expected: ExpectedCalls<'_>) -> ReadResult {
        if !self.answer.ends() {
            return Err(Unreadable::failure(broken_off(), None));
        }
        completion(self.answer, expected)
    }
}

/// What somebody who reads along sees.
fn show(piece: Piece<'_>, called: &mut bool, expected: ExpectedCalls<'_>, sink: &mut dyn Sink) {
    match piece {
        // If there is a function for the answer, text may not be the answer.
        Piece::Text(text) if expected.function.is_none() => sink.delta(Delta::Text(text)),
        Piece::Text(_) => {}
        Piece::Thought(text) => sink.delta(Delta::Reasoning(text)),
        Piece::Call { name, arguments } => {
            if !std::mem::replace(called, true) && expected.function == Some(name) {
                sink.delta(Delta::Text(arguments));
            }
        }
    }
}

#[cfg(test)]
mod tests;
