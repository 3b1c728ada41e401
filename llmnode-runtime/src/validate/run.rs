//! Runs the collected checks of one answer.

use std::any::Any;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use super::checks::{Attempt, Check, Checks, Collected, join};
use super::invalid::{Invalid, Violation};

/// What all checks of an answer came to.
pub(crate) enum Verdict {
    /// Every check ran; these are the complaints and warnings.
    Judged(Vec<Violation>),
    /// A check ended the call with an error of the program.
    Aborted(Box<dyn Error + Send + Sync>),
    /// A check panicked; the name of the validator and what it said.
    Panicked(String),
}

/// Runs every check, in the order of the dive. Complaints do not keep later checks from running; an abort
/// and a panic do.
pub(crate) async fn run<'a, S: ?Sized>(checks: Checks<'a, S>, state: &'a S, attempt: &'a Attempt) -> Verdict {
    let mut violations = Vec::new();
    for Collected { path, names, validator, check } in checks.list {
        let outcome = match check {
            Check::Sync(check) => catch_unwind(AssertUnwindSafe(|| check(state, attempt))),
            Check::Async(check) => caught(|| check(state, attempt)).await,
        };
        match outcome.map(|said| said.map_err(Invalid::into_violations)) {
            Ok(Ok(())) => {}
            Ok(Err(Ok(found))) => violations.extend(
                found.into_iter().map(|one| Violation { path: join(&path, names, &one.path), ..one }),
            ),
            Ok(Err(Err(error))) => return Verdict::Aborted(error),
            Err(panic) => {
                return Verdict::Panicked(format!("validator `{validator}` panicked: {}", text(&*panic)));
            }
        }
    }
    Verdict::Judged(violations)
}

/// Awaits a future, and turns a panic, at its making or at any poll, into an error.
async fn caught<F: Future>(make: impl FnOnce() -> F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(catch_unwind(AssertUnwindSafe(make))?);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(panic)),
    })
    .await
}

/// What a panic said, if it said it in words.
pub(crate) fn text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
