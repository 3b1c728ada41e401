//! The attempt loop: ask, judge, and ask again as long as a budget allows.
//!
//! It knows nothing of the node's types: they stand behind [`Judge`], so that the loop is compiled once.

use std::error::Error;
use std::fmt::Write;
use std::time::Duration;

use super::budget::{Budget, Next};
use super::clock::Clock;
use super::feedback;
use crate::BoxFuture;
use crate::category::Category;
use crate::error::NodeError;
use crate::ledger::{AttemptKind, AttemptRecord, CallScope, Flag, OpenAttempt};
use crate::model::{ChatModel, Completion, FinishReason, ModelError, Request, Retry};
use crate::settings::Resolved;
use crate::text::{cut, one_line};
use crate::validate::{Attempt, Violation};

/// The most that is kept of a provider's word, such as the model's name or a request's id, in bytes.
const WORD: usize = 200;

/// Reads and checks one answer: the part of a call that knows the node's types.
pub(super) trait Judge: Send {
    /// Judges an answer. `strictly`: it was cut, and counts only if it is whole JSON all the same.
    fn judge<'a>(
        &'a mut self,
        answer: &'a str,
        strictly: bool,
        attempt: &'a Attempt,
    ) -> BoxFuture<'a, Judgement>;
}

/// What an answer was found to be.
pub(super) enum Judgement {
    /// Good; the judge keeps the value.
    Accepted { flags: Vec<Flag>, warnings: Vec<Violation> },
    /// Bad: the model can be told.
    Rejected { category: Category, violations: Vec<Violation> },
    /// Not the model's fault: the call ends.
    Stopped(Failure),
}

/// Why an attempt failed, and what that calls for.
pub(super) struct Failure {
    pub(super) category: Category,
    pub(super) message: String,
    pub(super) retry: Retry,
    pub(super) retry_after: Option<Duration>,
    pub(super) violations: Vec<Violation>,
    pub(super) answer: Option<String>,
    pub(super) sent: bool,
    pub(super) source: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    pub(super) fn new(category: Category, message: impl Into<String>) -> Self {
        Failure {
            category,
            message: message.into(),
            retry: Retry::by_default(category),
            retry_after: None,
            violations: Vec::new(),
            answer: None,
            sent: true,
            source: None,
        }
    }

    fn rejected(category: Category, violations: Vec<Violation>) -> Self {
        let violations = listed(violations);
        let mut message = String::with_capacity(128);
        for violation in violations.iter().filter(|one| !one.warning) {
            if message.len() > 1000 {
                break;
            }
            // Writing to a `String` does not fail.
            let _ = write!(message, "{}{violation}", if message.is_empty() { "" } else { "; " });
        }
        Failure { violations, ..Failure::new(category, one_line(message, 1000)) }
    }

    fn into_error(self) -> NodeError {
        let error = NodeError::new(self.category, self.message).with_retry_after(self.retry_after);
        match self.source {
            Some(source) => error.with_source(source),
            None => error,
        }
    }
}

/// Asks the model until an answer is accepted or no budget is left.
///
/// `retries` corrections and `transport_retries` further tries are two counters; only the latter wait.
pub(super) async fn run(
    call: &CallScope<'_>,
    model: &dyn ChatModel,
    clock: &dyn Clock,
    plan: &Resolved,
    mut request: Request,
    judge: &mut dyn Judge,
) -> Result<(), NodeError> {
    let prompt = request.messages.len();
    let mut budget = Budget::new(plan);
    let (mut kind, mut wait) = (AttemptKind::First, Duration::ZERO);
    loop {
        if wait > Duration::ZERO {
            clock.sleep(wait).await;
        }
        let mut open = call.attempt(kind, wait, plan.model.clone());
        let Err(mut failure) = attempt(model, &request, &mut open, judge, &budget.attempt(), plan).await
        else {
            open.commit(None);
            return Ok(());
        };
        let next = budget.after(&failure);
        let corrects = matches!(next, Next::Again { kind: AttemptKind::Correction, .. });
        let answer = failure.answer.as_deref();
        let repeats = corrects && plan.stop_on_repeat && feedback::repeats(&request.messages, prompt, answer);
        if corrects && !repeats {
            let (answer, violations) = (failure.answer.clone(), &failure.violations);
            feedback::append(&mut request.messages, prompt, plan.feedback_rounds, answer, violations);
        }
        close(open, &mut failure);
        (kind, wait) = match go_on(next, repeats, plan) {
            Ok(again) => again,
            Err(why) => {
                failure.message += &why;
                return Err(failure.into_error());
            }
        };
    }
}

/// The kind of the next attempt and the wait before it, or why there is none, in words beyond the failure's own.
fn go_on(next: Next, repeats: bool, plan: &Resolved) -> Result<(AttemptKind, Duration), String> {
    match next {
        _ if repeats => Err("; the same answer came before, and stop_on_repeat is set".to_owned()),
        Next::Again { kind, wait } => Ok((kind, wait)),
        Next::Stop => Err(String::new()),
        Next::WaitTooLong(asked) => Err(format!(
            "; the server asks for a wait of {asked:?}, longer than max_wait ({:?})",
            plan.max_wait
        )),
    }
}

/// Writes down a failed attempt, unless no request was begun. What only the record needs goes there.
fn close(mut open: OpenAttempt<'_>, failure: &mut Failure) {
    if !failure.sent {
        return open.forget();
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

/// One request and the judgement on its answer.
async fn attempt(
    model: &dyn ChatModel,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    judge: &mut dyn Judge,
    attempt: &Attempt,
    plan: &Resolved,
) -> Result<(), Failure> {
    let completion = match model.complete(request, open).await {
        Ok(completion) => completion,
        Err(error) => return Err(failed(error, open)),
    };
    let Completion { text, refusal, finish, usage, model, request_id } = completion;
    open.note(|record| {
        record.usage = usage.or(record.usage);
        record.finish_reason = finish.as_ref().map(|finish| one_line(finish.as_str(), WORD));
        replace(&mut record.model, model);
        replace(&mut record.request_id, request_id);
    });
    let cut = finish == Some(FinishReason::Length);
    if let Some(failure) = unusable(&text, refusal, finish, plan) {
        return Err(Failure { answer: Some(text), ..failure });
    }
    match judge.judge(&text, cut, attempt).await {
        Judgement::Accepted { flags, warnings } => {
            open.note(|record| accepted(record, text, flags, warnings, cut));
            Ok(())
        }
        Judgement::Rejected { .. } if cut => Err(Failure { answer: Some(text), ..truncated(plan) }),
        Judgement::Rejected { category, violations } => {
            Err(Failure { answer: Some(text), ..Failure::rejected(category, violations) })
        }
        Judgement::Stopped(failure) => Err(Failure { answer: Some(text), ..failure }),
    }
}

fn accepted(record: &mut AttemptRecord, text: String, flags: Vec<Flag>, warnings: Vec<Violation>, cut: bool) {
    record.keep_answer(text);
    record.flags = flags;
    if cut {
        record.flags.push(Flag::LengthStop);
    }
    if !warnings.is_empty() {
        record.flags.push(Flag::Warned);
    }
    record.violations = listed(warnings);
}

/// The violations in the form and number that records keep and models are shown: a validator may have said
/// anything, about any number of elements. Warnings stand last.
fn listed(mut violations: Vec<Violation>) -> Vec<Violation> {
    const LISTED: usize = 256;
    violations.sort_by_key(|one| one.warning);
    if violations.len() > LISTED {
        violations.truncate(LISTED);
        violations.shrink_to_fit();
    }
    violations.into_iter().map(Violation::shortened).collect()
}

/// What keeps an answer from being read at all. The finish reason comes first: an answer that was filtered,
/// refused or cut is never "corrected".
fn unusable(
    text: &str,
    refusal: Option<String>,
    finish: Option<FinishReason>,
    plan: &Resolved,
) -> Option<Failure> {
    if let Some(refusal) = refusal {
        let said = one_line(&refusal, 200);
        return Some(Failure::new(Category::Refusal, format!("the model declined to answer: {said:?}")));
    }
    let empty = text.trim().is_empty();
    match finish {
        Some(FinishReason::ContentFilter) => {
            Some(Failure::new(Category::ContentFilter, "the provider's filter withheld the answer"))
        }
        Some(FinishReason::Error) => {
            Some(Failure::new(Category::ServerError, "the provider failed while it answered"))
        }
        Some(FinishReason::Length) if empty => Some(truncated(plan)),
        _ if empty => {
            let violations = vec![Violation::new("", "the answer was empty; an answer is required")];
            Some(Failure::rejected(Category::EmptyResponse, violations))
        }
        _ if text.len() > plan.max_output_bytes => {
            let (length, cap) = (text.len(), plan.max_output_bytes);
            let message = format!("the answer has {length} bytes, more than max_output_bytes ({cap})");
            Some(Failure::new(Category::TruncatedOutput, message))
        }
        _ => None,
    }
}

fn truncated(plan: &Resolved) -> Failure {
    let limit = match plan.max_tokens {
        Some(limit) => format!("max_tokens = {limit}; raise it or ask for a shorter answer"),
        None => "the model's own; set max_tokens or ask for a shorter answer".to_owned(),
    };
    Failure::new(Category::TruncatedOutput, format!("the answer stopped at the length limit ({limit})"))
}

fn failed(error: ModelError, open: &mut OpenAttempt<'_>) -> Failure {
    open.note(|record| {
        record.usage = error.usage.or(record.usage);
        record.status = error.status;
        replace(&mut record.request_id, error.request_id);
    });
    // A model that gave no choice at all can still be told that an answer is required.
    let violations = vec![Violation::new("", "there was no answer; an answer is required")];
    let retry = error.retry.unwrap_or(Retry::by_default(error.category));
    Failure {
        retry,
        retry_after: error.retry_after,
        violations: if retry == Retry::Feedback { violations } else { Vec::new() },
        sent: error.sent,
        source: error.source,
        ..Failure::new(error.category, error.message)
    }
}

/// A newer word replaces an older one; silence replaces nothing.
fn replace(slot: &mut Option<String>, word: Option<String>) {
    if let Some(word) = word {
        *slot = Some(cut(word, WORD));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_lists_complaints_up_to_a_kilobyte() {
        let warning = || Violation { warning: true, ..Violation::new("", "odd") };
        let some = vec![warning(), Violation::new("a", "is one"), Violation::new("b", "is two")];
        let failure = Failure::rejected(Category::ValidationError, some);
        assert_eq!(failure.message, "a: is one; b: is two");
        assert_eq!(failure.violations[2], warning(), "warnings last");

        let failure =
            Failure::rejected(Category::ValidationError, vec![Violation::new("a", "is bad"); 100_000]);
        assert_eq!((failure.message.len(), failure.violations.len()), (1004, 256));
        let many = (0..1000).map(|_| warning()).chain([Violation::new("a", "is bad")]).collect();
        assert_eq!(Failure::rejected(Category::ValidationError, many).message, "a: is bad");
    }
}
