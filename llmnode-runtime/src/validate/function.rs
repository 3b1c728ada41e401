//! Validators that are functions: `validate = path`.

use std::convert::Infallible;

use super::checks::{AttemptInfo, Check, CheckResult, Checks};
use crate::into_outcome::IntoOutcome;

/// What generated code calls for `validate = path` on a node without a state. Since
/// the function is called here, the compiler reports at the path which signature it
/// must have.
pub fn validate<'a, T, S, Value, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: impl FnOnce(&'a T, &'a AttemptInfo) -> Value + Send + 'a,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    Value: IntoOutcome<CheckResult, Infallible, Kind, Pending: Send> + 'a,
{
    validate_with_state(to, validator, value, |value, _, attempt| {
        path(value, attempt)
    });
}

/// The same, on a node with a state.
pub fn validate_with_state<'a, T, S, Value, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: impl FnOnce(&'a T, &'a S, &'a AttemptInfo) -> Value + Send + 'a,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    Value: IntoOutcome<CheckResult, Infallible, Kind, Pending: Send> + 'a,
{
    to.push(
        validator,
        Check::Async(Box::new(move |state, attempt| {
            let outcome = path(value, state, attempt).into_outcome();
            Box::pin(async move { outcome.await.unwrap_or_else(|never| match never {}) })
        })),
    );
}
