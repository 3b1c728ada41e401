//! What functions may return that an attribute names by their path.

use std::future::{Future, ready};
use std::marker::PhantomData;

use llmnode_model::BoxFuture;

/// A `T`, or a `Result` of it with any error that becomes an `E`. `Kind` only distinguishes the two.
#[diagnostic::on_unimplemented(
    message = "this function has to return `{T}`, but returns `{Self}`",
    label = "returns something else",
    note = "`route` and `post` may also return a `Result` of it, with any error that is `Send` and `Sync`, or with a text",
    note = "`route` and `post` are never `async`, since nothing waits between the output and the next step; remove `async`, and wait \
            in a node of its own"
)]
pub trait IntoOutcomeNow<T, E, Kind> {
    /// Converts to a result.
    ///
    /// # Errors
    /// The function's own.
    fn into_outcome_now(self) -> Result<T, E>;
}

/// The value itself.
#[derive(Debug)]
pub struct Plain;
/// A result.
#[derive(Debug)]
pub struct Fallible;

#[diagnostic::do_not_recommend]
impl<T, E> IntoOutcomeNow<T, E, Plain> for T {
    fn into_outcome_now(self) -> Result<T, E> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, Own: Into<E>> IntoOutcomeNow<T, E, Fallible> for Result<T, Own> {
    fn into_outcome_now(self) -> Result<T, E> {
        self.map_err(Into::into)
    }
}

/// The same, or a future of it.
#[diagnostic::on_unimplemented(
    message = "this function has to return `{T}`, but returns `{Self}`",
    label = "returns something else",
    note = "it may be `async`; `fallback`, `prep` and `batch` may also return a `Result` of it, with any error that is `Send` \
            and `Sync`, or with a text"
)]
pub trait IntoOutcome<T, E, Kind> {
    /// What is kept until the value is there: nothing, or the future. A separate bound requires it to be `Send`, so that a
    /// future that is not is reported as such.
    type Pending;

    /// Converts to a future.
    fn into_outcome<'a>(self) -> BoxFuture<'a, Result<T, E>>
    where
        Self: 'a,
        T: 'a,
        E: 'a,
        Self::Pending: Send;
}

/// At once.
#[derive(Debug)]
pub struct AtOnce<Kind>(PhantomData<Kind>);
/// A future.
#[derive(Debug)]
pub struct Later<Kind>(PhantomData<Kind>);

#[diagnostic::do_not_recommend]
impl<T: Send, E: Send, Kind, V: IntoOutcomeNow<T, E, Kind>> IntoOutcome<T, E, AtOnce<Kind>> for V {
    type Pending = ();

    fn into_outcome<'a>(self) -> BoxFuture<'a, Result<T, E>>
    where
        Self: 'a,
        T: 'a,
        E: 'a,
    {
        Box::pin(ready(self.into_outcome_now()))
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, Kind, F: Future<Output: IntoOutcomeNow<T, E, Kind>>> IntoOutcome<T, E, Later<Kind>>
    for F
{
    type Pending = F;

    fn into_outcome<'a>(self) -> BoxFuture<'a, Result<T, E>>
    where
        Self: 'a,
        T: 'a,
        E: 'a,
        F: Send,
    {
        Box::pin(async move { self.await.into_outcome_now() })
    }
}
