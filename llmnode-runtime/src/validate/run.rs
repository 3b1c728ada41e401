//! Runs the collected checks of one answer.

use std::error::Error;

use llmnode_model::internal::{catch_panic, catch_panic_async};
use llmnode_reader::Violation;

use super::checks::{AttemptInfo, Check, Checks, PendingCheck, join};
use super::invalid::Invalid;

pub(crate) enum CheckOutcome {
    Completed(Vec<Violation>),
    Aborted(Box<dyn Error + Send + Sync>),
    Panicked(String),
}

/// Runs the checks in the order of traversal. Violations do not keep later checks from running; an abort or a panic does.
pub(crate) async fn run<'a, S: ?Sized>(
    checks: Checks<'a, S>,
    state: &'a S,
    attempt: &'a AttemptInfo,
) -> CheckOutcome {
    let mut violations = Vec::new();
    for PendingCheck { path, names, validator, check } in checks.list {
        let outcome = match check {
            Check::Sync(check) => catch_panic(|| check(state, attempt)),
            Check::Async(check) => catch_panic_async(|| check(state, attempt)).await,
        };
        match outcome.map(|said| said.map_err(Invalid::into_violations)) {
            Ok(Ok(())) => {}
            Ok(Err(Ok(found))) => violations.extend(found.into_iter().map(|mut one| {
                one.path = join(&path, names, &one.path);
                one
            })),
            Ok(Err(Err(error))) => return CheckOutcome::Aborted(error),
            Err(said) => return CheckOutcome::Panicked(format!("validator `{validator}` panicked: {said}")),
        }
    }
    CheckOutcome::Completed(violations)
}
