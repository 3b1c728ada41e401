//! The value that takes the place of an answer.

use std::future::Future;

use crate::error::NodeError;
use crate::ledger::{CallScope, Degraded};
use crate::panics::caught;
use crate::{BoxError, BoxFuture, Category, Node};

/// A fallback value under way.
pub type Falling<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// What the function behind `fallback = path` may return for a `T`: a `T`, a `Result<T, E>`, or a future of either.
/// `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "a fallback gives `{T}`, and `{Self}` is none",
    label = "returns something else",
    note = "a fallback returns the node's output, or a `Result` of it with any error; it may be `async` if its future is `Send`"
)]
pub trait FallbackValue<T, Kind> {
    /// As the one form that the runtime knows.
    fn falling<'a>(self) -> Falling<'a, T>
    where
        Self: 'a;
}

/// The value itself.
#[derive(Debug)]
pub struct Plain;
/// A result.
#[derive(Debug)]
pub struct Fallible;
/// A future of a `Kind`.
#[derive(Debug)]
pub struct Later<Kind>(std::marker::PhantomData<Kind>);

#[diagnostic::do_not_recommend]
impl<T: Send> FallbackValue<T, Plain> for T {
    fn falling<'a>(self) -> Falling<'a, T>
    where
        T: 'a,
    {
        Box::pin(std::future::ready(Ok(self)))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send, E: Into<BoxError>> FallbackValue<T, Fallible> for Result<T, E> {
    fn falling<'a>(self) -> Falling<'a, T>
    where
        Self: 'a,
    {
        Box::pin(std::future::ready(self.map_err(Into::into)))
    }
}

#[diagnostic::do_not_recommend]
impl<T, Kind, F> FallbackValue<T, Later<Kind>> for F
where
    F: Future<Output: FallbackValue<T, Kind>> + Send,
{
    fn falling<'a>(self) -> Falling<'a, T>
    where
        Self: 'a,
    {
        Box::pin(async move { self.await.falling().await })
    }
}

/// What generated code makes of `fallback = path` on a node without a state. That the function is called here, and
/// not there, lets the compiler say at the path how it has to look.
pub fn fallback<'a, N: Node, R, Kind>(
    node: &'a N,
    error: &'a NodeError,
    path: impl FnOnce(&'a N, &'a NodeError) -> R,
) -> Falling<'a, N::Output>
where
    R: FallbackValue<N::Output, Kind> + 'a,
{
    path(node, error).falling()
}

/// The same, on a node with a state.
pub fn fallback_with_state<'a, N: Node, S: ?Sized, R, Kind>(
    node: &'a N,
    state: &'a S,
    error: &'a NodeError,
    path: impl FnOnce(&'a N, &'a S, &'a NodeError) -> R,
) -> Falling<'a, N::Output>
where
    R: FallbackValue<N::Output, Kind> + 'a,
{
    path(node, state, error).falling()
}

/// Asks the node for its value instead of this failure, and notes that the output is one.
pub(super) async fn fall_back<'a, T>(
    call: &CallScope<'_>,
    error: &'a NodeError,
    fallback: impl FnOnce(&'a NodeError) -> Option<Falling<'a, T>>,
) -> Option<Result<T, NodeError>> {
    let value = match caught(|| async { Some(fallback(error)?.await) }).await {
        Ok(None) => return None,
        Ok(Some(value)) => value,
        Err(said) => {
            let message = format!("the fallback panicked: {said}; it was to stand for {error}");
            return Some(Err(NodeError::new(Category::Panic, message)));
        }
    };
    Some(match value {
        Ok(value) => {
            call.degrade(Degraded::FallbackValue);
            Ok(value)
        }
        Err(fault) => {
            let message = format!("{}; its fallback failed too: {fault}", error.message());
            let category = error.category();
            Err(NodeError::new(category, message).with_retry_after(error.retry_after()).with_source(fault))
        }
    })
}
