//! Runs the collected checks of one answer.

use std::error::Error;
use std::future::{Ready, ready};

use futures_util::future::Either;
use llmnode_model::BoxFuture;
use llmnode_model::internal::{catch_panic, catch_panic_async};
use llmnode_reader::Violation;

use super::checks::{AttemptInfo, Check, CheckResult, Checks, PendingCheck, join};
use super::invalid::Invalid;

pub(crate) enum CheckOutcome {
    Completed(Vec<Violation>),
    Aborted(Box<dyn Error + Send + Sync>),
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
    for PendingCheck {
        check,
        path,
        names,
        validator,
    } in checks.list
    {
        let Check::Sync(check) = check else { continue };
        let outcome = catch_panic(|| check(state, attempt));
        if let Some(ended) = add(&mut violations, (&path, names, validator), outcome) {
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
    for PendingCheck {
        path,
        names,
        validator,
        check,
    } in checks.list
    {
        let outcome = match check {
            Check::Sync(check) => catch_panic(|| check(state, attempt)),
            Check::Async(check) => catch_panic_async(|| check(state, attempt)).await,
        };
        if let Some(ended) = add(&mut violations, (&path, names, validator), outcome) {
            return ended;
        }
    }
    CheckOutcome::Completed(violations)
}

fn add(
    violations: &mut Vec<Violation>,
    (path, names, validator): (&str, &'static [(&'static str, &'static str)], &str),
    outcome: Result<CheckResult, String>,
) -> Option<CheckOutcome> {
    let found = match outcome.map(|said| said.map_err(Invalid::into_violations)) {
        Ok(Ok(())) => return None,
        Ok(Err(Ok(found))) => found,
        Ok(Err(Err(error))) => return Some(CheckOutcome::Aborted(error)),
        Err(said) => {
            return Some(CheckOutcome::Panicked(format!(
                "validator `{validator}` panicked: {said}"
            )));
        }
    };
    violations.extend(found.into_iter().map(|mut one| {
        one.path = join(path, names, &one.path);
        one
    }));
    None
}
