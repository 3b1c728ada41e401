//! How long an attempt may take, and what its failure says when that has passed.

use std::time::Duration;

use llmnode_model::Category;

use crate::clock::timeout_at;
use crate::ledger::OpenAttempt;
use crate::run::attempt_loop::CallPlan;
use crate::run::failure::Failure;

/// Why an attempt has no more time.
pub(in crate::run) enum OutOfTime {
    /// The timeout has passed.
    OfAttempt(Duration),
    /// The time of the run is over, as the message says.
    OfRun(String),
}

/// Ends the attempt when its timeout has passed, or when the time of the run is over. A wait for a batch
/// does not count for the timeout; beside batches, a run has no limit of time.
pub(in crate::run) async fn in_time<F: Future + Unpin>(
    plan: &CallPlan<'_>,
    timeout: Option<Duration>,
    attempt: F,
) -> Result<F::Output, OutOfTime> {
    let clock = &*plan.context.core.clock;
    let limits = plan.context.limits;
    let of_attempt = timeout.and_then(|timeout| clock.now().checked_add(timeout));
    let of_run = limits.end_of_time();
    let ends = of_attempt
        .into_iter()
        .chain(of_run.as_ref().map(|of_run| of_run.at));
    let Some(end) = ends.min() else {
        return Ok(attempt.await);
    };
    let outcome = timeout_at(clock, end, plan.stopped(), attempt).await;
    outcome.ok_or_else(|| match (timeout, of_run) {
        (_, Some(of_run)) if of_attempt != Some(end) => OutOfTime::OfRun(of_run.message()),
        (timeout, _) => OutOfTime::OfAttempt(timeout.unwrap_or_default()),
    })
}

impl OutOfTime {
    pub(in crate::run) fn into_failure(self, open: &OpenAttempt<'_>) -> Failure {
        match self {
            OutOfTime::OfAttempt(timeout) => timed_out(timeout, open),
            OutOfTime::OfRun(late) => Failure::new(Category::LimitExceeded, late),
        }
    }
}

/// Says how far the attempt had come.
fn timed_out(timeout: Duration, open: &OpenAttempt<'_>) -> Failure {
    if !open.has_begun() {
        let message = format!(
            "no request started within {timeout:?} (attempt_timeout, which includes the wait for room under limits)"
        );
        return Failure::unsent(Category::Timeout, message);
    }
    let message = if open.is_unsent() {
        format!("no connection within {timeout:?} (attempt_timeout)")
    } else if open.has_answer() {
        format!("the answer was not validated within {timeout:?} (attempt_timeout)")
    } else {
        format!(
            "no answer within {timeout:?} (attempt_timeout; the request may have been processed)"
        )
    };
    Failure::new(Category::Timeout, message)
}
