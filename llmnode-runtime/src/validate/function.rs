//! Validators that are functions: `validate = path`.

use super::checks::{Attempt, Check, Checks};
use super::invalid::Invalid;
use crate::function::Gives;

/// What generated code makes of `validate = path` on a node without a state. That the function is called here, and not
/// there, lets the compiler say at the path how it has to look.
pub fn validate<'a, T, S, Said, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: impl FnOnce(&'a T, &'a Attempt) -> Said + Send + 'a,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    Said: Gives<(), Invalid, Kind, Kept: Send> + 'a,
{
    to.push(validator, Check::Async(Box::new(move |_, attempt| path(value, attempt).later())));
}

/// The same, on a node with a state.
pub fn validate_with_state<'a, T, S, Said, Kind>(
    to: &mut Checks<'a, S>,
    validator: &'static str,
    value: &'a T,
    path: impl FnOnce(&'a T, &'a S, &'a Attempt) -> Said + Send + 'a,
) where
    T: ?Sized + Sync,
    S: ?Sized,
    Said: Gives<(), Invalid, Kind, Kept: Send> + 'a,
{
    to.push(validator, Check::Async(Box::new(move |state, attempt| path(value, state, attempt).later())));
}
