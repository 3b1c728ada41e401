//! Turns an answer into a completion, or the reason why there is none.
//!
//! Gemini withholds answers in three ways: the prompt is blocked (no candidates), a
//! candidate ends with the name of a filter, or it is empty. And it ends answers
//! with mistakes of the model, which the model can mend if it is told. All of that
//! comes with status 200.

use llmnode_model::ext::CarriedPart;
use llmnode_model::{Category, Completion, FinishReason, Message, ModelError, Retry};
use llmnode_reader::text::one_line;
use serde_json::value::RawValue;

use super::gathered::{Gathered, Response};
use super::usage::UsageMetadata;
use crate::api::ends;
use crate::api::expected_calls::{ExpectedCalls, take_answer};
use crate::api::read_answer::{OTHER_CHOICES, ReadAnswer, ReadResult, Unreadable};
use crate::api::unreadable::{broken_off, json_of, no_answer, no_json};
use crate::api::wire::tokens_of;
use crate::http::error_body;
use crate::http::reported;

/// A body, a list of events in one body, an error, or something else.
pub(super) fn read(body: &[u8], expected: ExpectedCalls<'_>) -> ReadResult {
    let body = json_of(body)?;
    if body.first() == Some(&b'[') {
        return read_list(body, expected);
    }
    let response: Response<'_> = reported::read(body).map_err(|error| no_json(body, &error))?;
    let mut gathered = Gathered::default();
    let is_answer = gathered.add(response, &mut |_| {});
    if is_answer {
        return completion(gathered, expected);
    }
    if error_body::is_error(body) {
        return Err(Unreadable::ErrorObject);
    }
    Err(no_candidates())
}

/// A stream whose events a gateway has put into a list.
fn read_list(body: &[u8], expected: ExpectedCalls<'_>) -> ReadResult {
    let mut gathered = Gathered::default();
    let mut is_answer = false;
    let events: Vec<&RawValue> =
        serde_json::from_slice(body).map_err(|error| no_json(body, &error))?;
    for event in events {
        let event = event.get().as_bytes();
        let response: Response<'_> =
            reported::read(event).map_err(|error| no_json(event, &error))?;
        if gathered.add(response, &mut |_| {}) {
            is_answer = true;
        } else if error_body::is_error(event) {
            let usage = gathered.usage_so_far().map(Box::new);
            return Err(Unreadable::ErrorEvent(event.to_vec(), usage));
        }
    }
    if !is_answer {
        return Err(no_candidates());
    }
    if !gathered.ends() {
        let usage = gathered.usage_so_far();
        return Err(Unreadable::failure(broken_off(), usage));
    }
    completion(gathered, expected)
}

fn no_candidates() -> Unreadable {
    no_answer("the response is JSON without `candidates`: is this Gemini's API?")
}

/// Why there is no answer: the prompt is blocked, nothing came, or what came was
/// stopped by Gemini's filters.
fn withheld(answer: &Gathered, reason: &str, why: &str) -> Option<ModelError> {
    let has_end = answer.answers && answer.finish.is_some();
    // A block may also end an answer that has begun.
    if let Some((reason, why)) = &answer.block
        && !has_end
    {
        let reason = one_line(reason, 40);
        let why = one_line(why, 300);
        let message =
            format!("Gemini withheld the answer: the prompt is blocked ({reason}): {why}");
        return Some(ModelError::new(Category::ContentFilter, message).retry(Retry::No));
    }
    if !answer.answers {
        let message = "the response has no candidates";
        let empty = ModelError::new(Category::EmptyResponse, message);
        return Some(empty.retry(Retry::Transport));
    }
    if ends::finish(reason) == Some(FinishReason::ContentFilter) {
        let reason = one_line(reason, 40);
        let message = format!("Gemini withheld the answer ({reason}): {why}");
        return Some(ModelError::new(Category::ContentFilter, message).retry(Retry::No));
    }
    None
}

/// In the order: what could not be read, what was withheld, the model's own
/// mistakes, the answer.
///
/// A doubt about the end (`ends::doubt`) comes before the mistakes: an answer that
/// broke off is asked for again, and not corrected. The parts that go back are
/// dropped last, when it is known that they say no more than the text does.
pub(super) fn completion(answer: Gathered, expected: ExpectedCalls<'_>) -> ReadResult {
    let (usage, impossible) = answer
        .usage
        .as_ref()
        .map(UsageMetadata::figures)
        .unwrap_or_default();
    if let Some(broken) = answer.broken {
        return Err(Unreadable::failure(broken, usage));
    }
    let why = one_line(answer.finish_message.as_deref().unwrap_or_default(), 300);
    let reason = answer.finish.as_deref().unwrap_or_default();
    if let Some(mut withheld) = withheld(&answer, reason, &why) {
        withheld.set_answered(Some(tokens_of(answer.written())));
        return Err(Unreadable::failure(withheld, usage));
    }
    // The model's own mistakes, which it can mend. The call of a tool that is not
    // there is answered like any other.
    let malformed = matches!(reason, "MALFORMED_FUNCTION_CALL" | "TOO_MANY_TOOL_CALLS");
    let unexpected = reason == "UNEXPECTED_TOOL_CALL";
    let mistake = format!("the call of a tool failed ({reason}): {why}");
    let mut parts = answer.parts;
    let mut completion = Completion::new(answer.text);
    completion.calls = answer.calls;
    completion.reasoning = Some(answer.reasoning);
    completion.finish = ends::finish(reason);
    completion.model = answer.model;
    completion.response_id = answer.id;
    let has_call = !completion.calls.is_empty();
    take_answer(&mut completion, expected);
    // No event says that a message has ended: its reason does.
    if let Some(doubt) = ends::doubt(&completion, true) {
        return Err(Unreadable::failure(doubt, usage));
    }
    if malformed || (unexpected && completion.calls.is_empty()) {
        let mut failure = ModelError::new(Category::SchemaError, mistake).retry(Retry::Feedback);
        // What it wrote instead, as far as Google shows it.
        failure.answer = Some(Box::new(Message::assistant(completion.text + &why)));
        return Err(Unreadable::rejected(failure, parts, usage));
    }
    // With calls, even a turn without signatures has to be known as this model's own.
    let is_plain = parts
        .iter()
        .all(|part| matches!(part, CarriedPart::Text { beside: None, .. }));
    let was_answer = has_call && completion.calls.is_empty();
    if is_plain || was_answer {
        parts.clear();
    }
    let mut read = ReadAnswer::new(completion, has_call, parts, (usage, impossible));
    if answer.others {
        read.flags.push(OTHER_CHOICES);
    }
    Ok(read)
}
