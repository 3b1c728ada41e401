//! Runs the collected checks of one answer, in the order in which they were collected.
//!
//! Most validators are not async, and a node that has only such ones must not pay
//! for a boxed future on every answer. So there are two loops over the same
//! `note_result`: one that is done when it returns, and one that can wait.

use std::error::Error;
use std::future::{Ready, ready};

use futures_util::future::Either;
use llmnode_model::BoxFuture;
use llmnode_model::internal::{catch_panic, catch_panic_async};
use llmnode_reader::Violation;

use super::checks::{AttemptInfo, Check, CheckResult, Checks, FoundAt, join};

pub(crate) enum CheckOutcome {
    /// All checks ran. No violations: the answer is accepted.
    Completed(Vec<Violation>),
    /// A validator ended the call with an error of the program.
    Aborted(Box<dyn Error + Send + Sync>),
    /// A validator panicked; the message names it.
    Panicked(String),
}

/// Boxed only if one of the checks is async.
pub(crate) type CheckRun<'a> = Either<Ready<CheckOutcome>, BoxFuture<'a, CheckOutcome>>;

/// Violations do not keep later checks from running; an abort or a panic does.
pub(crate) fn run<'a, S: ?Sized + Sync>(
    checks: Checks<'a, S>,
    state: &'a S,
    attempt: &'a AttemptInfo,
) -> CheckRun<'a> {
    if checks
        .list
        .iter()
        .any(|one| matches!(one.check, Check::Async(_)))
    {
        return Either::Right(Box::pin(run_async(checks, state, attempt)));
    }
    let mut violations = Vec::new();
    for pending in checks.list {
        let Check::Sync(check) = pending.check else {
            continue;
        };
        let result = catch_panic(|| check(state, attempt));
        let noted = note_result(&mut violations, &pending.found_at, result);
        if let Err(ended) = noted {
            return Either::Left(ready(ended));
        }
    }
    Either::Left(ready(CheckOutcome::Completed(violations)))
}

async fn run_async<'a, S: ?Sized>(
    checks: Checks<'a, S>,
    state: &'a S,
    attempt: &'a AttemptInfo,
) -> CheckOutcome {
    let mut violations = Vec::new();
    for pending in checks.list {
        let result = match pending.check {
            Check::Sync(check) => catch_panic(|| check(state, attempt)),
            Check::Async(check) => catch_panic_async(|| check(state, attempt)).await,
        };
        let noted = note_result(&mut violations, &pending.found_at, result);
        if let Err(ended) = noted {
            return ended;
        }
    }
    CheckOutcome::Completed(violations)
}

/// Adds what one validator found to the violations so far. An error ends the checks.
///
/// A validator writes paths from its own type on. Here they get the path at which
/// that type was found in the answer.
fn note_result(
    violations: &mut Vec<Violation>,
    found_at: &FoundAt,
    result: Result<CheckResult, String>,
) -> Result<(), CheckOutcome> {
    let checked = result.map_err(|message| {
        let validator = found_at.validator;
        CheckOutcome::Panicked(format!("validator `{validator}` panicked: {message}"))
    })?;
    let Err(invalid) = checked else {
        return Ok(());
    };
    let found = invalid.into_violations().map_err(CheckOutcome::Aborted)?;
    for mut violation in found {
        violation.path = join(&found_at.path, found_at.names, &violation.path);
        violations.push(violation);
    }
    Ok(())
}
