//! How long an attempt may take, and what its failure says when that has passed.

use std::time::Duration;

use llmnode_model::Category;

use crate::clock::{Clock, StoppedTime, timeout_at};
use crate::ledger::OpenAttempt;
use crate::run::failure::Failure;

/// `Err`: the timeout, which has passed.
pub(in crate::run) async fn in_attempt_timeout<F: Future>(
    clock: &dyn Clock,
    timeout: Option<Duration>,
    attempt: F,
) -> Result<F::Output, Duration> {
    let end = timeout.and_then(|timeout| clock.now().checked_add(timeout));
    let (Some(timeout), Some(end)) = (timeout, end) else {
        return Ok(attempt.await);
    };
    timeout_at(clock, end, attempt).await.ok_or(timeout)
}

/// The same for a request that may wait for a batch: the timeout counts what is done besides.
pub(super) async fn in_stopped_timeout<F: Future>(
    clock: &dyn Clock,
    stopped: &StoppedTime,
    timeout: Option<Duration>,
    attempt: F,
) -> Result<F::Output, Duration> {
    let end = timeout.and_then(|timeout| clock.now().checked_add(timeout));
    let (Some(timeout), Some(end)) = (timeout, end) else {
        return Ok(attempt.await);
    };
    let outcome = stopped.timeout_at(clock, end, attempt).await;
    outcome.ok_or(timeout)
}

/// Says how far the attempt had come.
pub(in crate::run) fn timed_out(timeout: Duration, open: &OpenAttempt<'_>) -> Failure {
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
