//! An answer that comes in events, each of which has the form of a whole one.

use std::ops::ControlFlow;

use llmnode_model::{Delta, ModelError, Sink, TokenUsage};

use super::answer::completion;
use super::gathered::{Gathered, Piece, Response};
use crate::api::expected_calls::ExpectedCalls;
use crate::api::padding::PaddingWatch;
use crate::api::read_answer::{ReadResult, Unreadable};
use crate::api::unreadable::{as_error_body, broken_off, malformed};
use crate::api::wire::StreamedAnswer;
use crate::http::sse::Event;

#[derive(Debug, Default)]
pub(super) struct PartialAnswer {
    answer: Gathered,
    reported: Option<TokenUsage>,
    called: bool,
    padding: PaddingWatch,
    error: Option<Vec<u8>>,
}

impl StreamedAnswer for PartialAnswer {
    fn read(
        &mut self,
        event: Event<'_>,
        wanted: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<Result<(), ModelError>> {
        if event.data.trim_ascii() == b"[DONE]" {
            return ControlFlow::Break(Ok(()));
        }
        let response = match Response::read(event.data) {
            Ok(response) if !event.is_error => response,
            Err(_) if !event.is_complete => return ControlFlow::Break(Err(broken_off(self.usage()))),
            Err(error) if !event.is_error => return ControlFlow::Break(Err(malformed(&error, self.usage()))),
            _ => {
                self.error = Some(as_error_body(event.data));
                return ControlFlow::Break(Ok(()));
            }
        };
        let called = &mut self.called;
        let is_answer = self.answer.add(response, &mut |piece| show(piece, called, wanted, sink));
        if !is_answer && crate::http::error_body::is_error(event.data) {
            self.error = Some(event.data.to_vec());
            return ControlFlow::Break(Ok(()));
        }
        if self.answer.finish.is_none() && self.padding.is_padded(&self.answer.text) {
            self.answer.finish = Some("MAX_TOKENS".to_owned());
            return ControlFlow::Break(Ok(()));
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
        self.answer.usage.figures().0
    }

    fn finish(self: Box<Self>, wanted: ExpectedCalls<'_>) -> Result<ReadResult, Vec<u8>> {
        match self.error {
            Some(error) => Err(error),
            None if self.answer.finish.is_none() && self.answer.block.is_none() => {
                Ok(Err(Unreadable::Failure(Box::new(broken_off(self.usage())))))
            }
            None => Ok(completion(self.answer, wanted)),
        }
    }
}

fn show(piece: Piece<'_>, called: &mut bool, wanted: ExpectedCalls<'_>, sink: &mut dyn Sink) {
    match piece {
        // If there is a function for the answer, text may not be the answer.
        Piece::Text(text) if wanted.function.is_none() => sink.delta(Delta::Text(text)),
        Piece::Text(_) => {}
        Piece::Thought(text) => sink.delta(Delta::Reasoning(text)),
        Piece::Call { name, arguments } => {
            if !std::mem::replace(called, true) && wanted.function == Some(name) {
                sink.delta(Delta::Text(arguments));
            }
        }
    }
}

#[cfg(test)]
mod tests;
