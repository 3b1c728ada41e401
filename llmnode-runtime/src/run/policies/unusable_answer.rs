//! For what every provider may do: it refuses, its filter withholds the answer, it
//! fails on the way, or nothing comes. The finish reason counts before the text: an
//! answer that was filtered, refused or cut is never "corrected".

use llmnode_model::{Category, FinishReason, Request, TokenUsage};
use llmnode_reader::Violation;
use llmnode_reader::text::one_line;

use super::cut_answer::truncated;
use super::policy::{AttemptView, Next, Policy};
use crate::run::failure::Failure;
use crate::run::response::{Ended, Response};

/// An answer that calls tools may have no text.
const CALLS_PLACEHOLDER: &str = "(calls)";

pub(super) struct UnusableAnswer;

impl Policy for UnusableAnswer {
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        let failure = match &attempt.ended.refusal {
            Some(refusal) => Some(declined(refusal)),
            None => by_finish_reason(response, attempt),
        };
        let failure = failure.or_else(|| too_long(response, attempt))?;
        Some(Next::GiveUp(failure))
    }
}

fn declined(refusal: &str) -> Failure {
    let shown = one_line(refusal, 200);
    let message = format!("the model declined to answer: {shown:?}");
    Failure::new(Category::Refusal, message)
}

fn by_finish_reason(response: &Response, attempt: &AttemptView<'_>) -> Option<Failure> {
    let has_calls = response.round.is_some();
    let is_empty = !has_calls && response.text.trim().is_empty();
    match attempt.ended.finish {
        Some(FinishReason::ContentFilter) => Some(Failure::new(
            Category::ContentFilter,
            "the provider's filter withheld the answer",
        )),
        Some(FinishReason::Error) => Some(Failure::new(
            Category::ServerError,
            "the provider failed while it answered",
        )),
        Some(FinishReason::Continue) if !has_calls => Some(Failure::new(
            Category::TruncatedOutput,
            "the provider paused the turn where an answer was due; raise `turns`",
        )),
        Some(FinishReason::Length) if is_empty => {
            if fills_the_window(&attempt.ended, attempt.request) {
                return Some(window_is_full());
            }
            Some(truncated(attempt, response.limit))
        }
        _ if is_empty => {
            let violation = Violation::new("", "the answer was empty; an answer is required");
            Some(Failure::rejected(Category::EmptyResponse, vec![violation]))
        }
        _ => None,
    }
}

fn too_long(response: &Response, attempt: &AttemptView<'_>) -> Option<Failure> {
    let max_bytes = attempt.settings.max_output_bytes();
    let length = match response.round {
        Some(_) => CALLS_PLACEHOLDER.len(),
        None => response.text.len(),
    };
    if length <= max_bytes {
        return None;
    }
    let message =
        format!("the answer has {length} bytes, more than max_output_bytes ({max_bytes})");
    Some(Failure::new(Category::TruncatedOutput, message))
}

/// Servers that do not refuse a long prompt stop at once, with no room for the answer.
fn fills_the_window(ended: &Ended, request: &Request) -> bool {
    /// No model's window is smaller.
    const WINDOW: u64 = 500;
    let Some(TokenUsage {
        input: Some(input),
        output: Some(output),
        ..
    }) = ended.usage
    else {
        return false;
    };
    let is_our_limit = request
        .max_tokens
        .is_some_and(|limit| output >= limit.into());
    input >= WINDOW && output <= input / 100 && !is_our_limit
}

fn window_is_full() -> Failure {
    let message = "the prompt filled the model's window, and no room was left for an answer; shorten it, or give the \
                   model a larger window";
    Failure::new(Category::ContextLengthError, message)
}
