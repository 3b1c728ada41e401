//! The attempt loop: ask, judge, and ask again as long as a budget allows.
//!
//! It knows nothing of the node's types: they stand behind [`Judge`], so that the loop is compiled once.

use std::time::Duration;

use super::attempt::{Judge, attempt};
use super::budget::{Budget, Next};
use super::failure::Failure;
use super::feedback;
use crate::clock::Clock;
use crate::error::NodeError;
use crate::ledger::{AttemptKind, CallScope, OpenAttempt};
use crate::model::{ChatModel, Request};
use crate::settings::Resolved;
use crate::text::one_line;

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
