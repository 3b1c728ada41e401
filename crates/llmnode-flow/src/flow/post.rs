//! What a step does with its output: `store`, `action`, `route` and `post`, as
//! generated code calls them.
//!
//! The program's functions are called here, and not in generated code, so that the
//! compiler points at their paths and says which signature it expects.

use llmnode_runtime::internal::IntoOutcomeNow;
use llmnode_runtime::{BoxError, Category};

use super::step_error::step_error;

/// Generated for `store = path`.
pub fn store<V: Stored<T>, T>(place: &mut T, value: V) {
    *place = value.into();
}

/// An output that `store` can put into a field of type `T`.
#[diagnostic::on_unimplemented(
    message = "`store` cannot put the output, a `{Self}`, into a field of type `{T}`",
    label = "a field of type `{T}`",
    note = "`store` replaces the field, by `Into`; to convert the output, or to add it to a \
            collection, write `post = path` with a `fn path(self, output: {Self}, state: &mut \
            State)`"
)]
pub trait Stored<T>: Into<T> {}

#[diagnostic::do_not_recommend]
impl<T, V: Into<T>> Stored<T> for V {}

/// Generated for `action = Type` without a function that decides.
pub fn decided<'a, A, O>(output: &'a O) -> A
where
    &'a O: Decides<A>,
{
    output.into()
}

#[diagnostic::on_unimplemented(
    message = "the output does not say what the step decides: `{A}` is not `From<{Self}>`",
    label = "is not made from the output",
    note = "if `{A}` is the output itself, put `#[derive(Action)]` on it; otherwise write `impl \
            From<{Self}> for {A}`, or `route = path` with a `fn path(output: {Self}, state: \
            &State) -> {A}`"
)]
pub trait Decides<A>: Into<A> {}

#[diagnostic::do_not_recommend]
impl<A, V: Into<A>> Decides<A> for V {}

/// Generated for `route = path`.
///
/// # Errors
/// The function's own.
pub fn route<'a, A, O, S, Value, Kind>(
    output: &'a O,
    state: &'a S,
    path: impl FnOnce(&'a O, &'a S) -> Value,
) -> Result<A, BoxError>
where
    O: ?Sized,
    Value: IntoOutcomeNow<A, BoxError, Kind>,
{
    let decided = path(output, state).into_outcome_now();
    Ok(decided.map_err(|error: BoxError| step_error(Category::Aborted, "route failed", error))?)
}

/// Generated for `post = path`.
///
/// # Errors
/// The function's own.
pub fn post<'a, A, N, O, S, Value, Kind>(
    node: N,
    output: O,
    state: &'a mut S,
    path: impl FnOnce(N, O, &'a mut S) -> Value,
) -> Result<A, BoxError>
where
    Value: IntoOutcomeNow<A, BoxError, Kind>,
{
    path(node, output, state).into_outcome_now()
}
