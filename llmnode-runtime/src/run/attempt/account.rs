//! Writes what a response says of itself into the attempt's record, and settles its reservation.

use std::borrow::Cow;

use llmnode_model::{Completion, FinishReason, Message, ModelError, Request, Retry, TokenUsage};
use llmnode_reader::text::one_line;
use llmnode_reader::{Flag, Violation};

use crate::ledger::{AttemptRecord, OpenAttempt};
use crate::limits::Reservation;
use crate::run::failure::{Cause, Failure};
use crate::run::response::{Ended, Response};
use crate::run::tools::{answer_or_calls, forbidden_calls};
use crate::text::cut;

/// A provider may report names and ids of any length.
pub(super) const MAX_WORD_BYTES: usize = 200;

/// A response that is accounted for.
pub(super) struct Accounted {
    pub(super) response: Response,
    pub(super) ended: Ended,
}

/// Settles the reservation, and tells a text from calls of tools. What was written
/// counts, whatever becomes of it.
///
/// The reservation comes first: other calls may wait for its room. The length is
/// measured before anybody cuts the text, since it stands in for the usage of a
/// provider that reports none.
pub(super) fn account(
    outcome: Result<Completion, ModelError>,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
) -> Result<Accounted, Failure> {
    let mut completion = settle_response(outcome, open, reserved)?;
    let forbidden_calls = forbidden_calls(&completion, request);
    let round = answer_or_calls(&mut completion, request);
    let mut written = characters(completion.reasoning.as_ref());
    match &round {
        None => {
            written += characters(Some(&completion.text));
            written += characters(completion.refusal.as_ref());
        }
        Some(round) => written += round.characters(),
    }
    open.note(|record| {
        record.finish_reason = completion.finish.as_ref().map(finish_word);
        note_provider(
            record,
            completion.usage,
            completion.model,
            completion.request_id,
        );
        record.estimate_unreported(written);
        record.tools = forbidden_calls;
    });
    match completion.finish {
        None => flag(open, Flag::NoFinishReason),
        Some(FinishReason::Other(_)) => flag(open, Flag::UnknownFinish),
        Some(_) => {}
    }
    let response = Response {
        text: completion.text,
        carried: completion.carried,
        round,
        limit: completion.limit,
        was_stopped: completion.finish == Some(FinishReason::Length),
        ..Response::default()
    };
    let ended = Ended {
        finish: completion.finish,
        refusal: completion.refusal,
        usage: completion.usage,
    };
    Ok(Accounted { response, ended })
}

fn characters(text: Option<&String>) -> usize {
    text.map_or(0, |text| text.chars().count())
}

/// Replaces what was reserved by what was spent, whether there is an answer or not.
pub(in crate::run) fn settle_response(
    mut outcome: Result<Completion, ModelError>,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
) -> Result<Completion, Failure> {
    let usage = match &mut outcome {
        Ok(completion) => completion.usage.as_mut(),
        Err(error) => error.usage.as_deref_mut(),
    };
    if let Some(usage) = usage {
        drop_impossible(usage, open);
    }
    reserved.settle(&outcome);
    if outcome.is_ok() {
        // The server was unreachable, but the model may have tried another one.
        open.note(|record| record.unsent = false);
    }
    let completion = outcome.map_err(|error| failed(error, open))?;
    open.answered(&completion);
    Ok(completion)
}

/// The usual one is not copied.
fn finish_word(finish: &FinishReason) -> Cow<'static, str> {
    match finish {
        FinishReason::Stop => Cow::Borrowed("stop"),
        other => Cow::Owned(one_line(other.as_str(), MAX_WORD_BYTES)),
    }
}

/// Notes how the provider names what it did. What was reported before stays where
/// the end of the answer says nothing.
pub(in crate::run) fn note_provider(
    record: &mut AttemptRecord,
    usage: Option<TokenUsage>,
    model: Option<String>,
    request_id: Option<String>,
) {
    record.usage = usage.or(record.usage);
    replace(&mut record.model, model);
    replace(&mut record.request_id, request_id);
}

pub(super) fn drop_impossible(usage: &mut TokenUsage, open: &mut OpenAttempt<'_>) {
    let possible = usage.possible();
    if *usage != possible {
        *usage = possible;
        flag(open, Flag::ImpossibleUsage);
    }
}

pub(super) fn flag(open: &mut OpenAttempt<'_>, flag: Flag) {
    open.note(|record| {
        if !record.flags.contains(&flag) {
            record.flags.push(flag);
        }
    });
}

/// The failure of a model that returned an error. An estimate stays in the record
/// only where the request may have cost something: a server that refused it unread
/// has charged nothing.
pub(in crate::run) fn failed(error: ModelError, open: &mut OpenAttempt<'_>) -> Failure {
    open.broke_off(error.usage.as_deref().copied(), error.answered());
    let may_have_used_tokens = error.may_have_used_tokens();
    let costs_nothing = error.costs_nothing();
    open.note(|record| {
        record.status = error.status;
        record.unsent = !error.reached;
        let has_output = match record.estimate {
            Some(estimate) => estimate.output.is_some(),
            None => false,
        };
        let has_begun = record.usage.is_some() || has_output;
        if !may_have_used_tokens && !has_begun {
            record.estimate = None;
        }
        if costs_nothing && !has_begun {
            record.costs_nothing();
        }
        replace(&mut record.request_id, error.request_id);
    });
    // Even a model that returned no choice can be reminded to answer.
    let fault = if error.answer.is_some() {
        &error.message
    } else {
        "there was no answer; an answer is required"
    };
    let retry = error.retry;
    let decision = retry.unwrap_or(Retry::by_default(error.category));
    let violations = match decision {
        Retry::Feedback => vec![Violation::new("", fault)],
        _ => Vec::new(),
    };
    let carried = error.answer.as_deref().and_then(Message::carried).cloned();
    Failure {
        retry,
        retry_after: error.retry_after,
        violations,
        carried,
        answer: error.answer.map(|answer| answer.content),
        sent: error.sent,
        cause: error.source.map(|source| Box::new(Cause::Source(source))),
        ..Failure::new(error.category, error.message)
    }
}

fn replace(slot: &mut Option<String>, word: Option<String>) {
    if let Some(word) = word {
        *slot = Some(cut(word, MAX_WORD_BYTES));
    }
}

/// Records nothing if no request was begun. Moves what only the record needs.
pub(in crate::run) fn record_failure(mut open: OpenAttempt<'_>, failure: &mut Failure) {
    if !failure.sent || !open.has_begun() {
        return open.forget(failure.category);
    }
    open.note(|record| {
        record.message = one_line(&failure.message, 1000);
        record.violations = std::mem::take(&mut failure.violations);
        record.retry_after = failure.retry_after;
        if let Some(answer) = failure.answer.take() {
            record.keep_answer(answer);
        }
    });
    open.commit(Some(failure.category));
}
