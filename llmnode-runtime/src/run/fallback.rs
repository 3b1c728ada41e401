//! The value that takes the place of an answer.

use std::future::Future;

use super::shell::Asked;
use crate::error::NodeError;
use crate::function::{Function, Nothing, Parameters};
use crate::ledger::{CallScope, Degraded};
use crate::panics::caught;
use crate::{BoxError, BoxFuture, Category, Node};

/// A fallback value under way.
pub type Falling<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// What the function behind `fallback = path` may return for a `T`: a `T`, a `Result<T, E>`, or a future of either.
/// `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "this node's fallback returns `{T}` or `Result<{T}, E>`, or is an `async fn` of either, but this returns `{Self}`",
    label = "returns something else",
    note = "`E` is any error that is `Send` and `Sync`, or a text"
)]
pub trait FallbackValue<T, Kind> {
    /// What is kept until the value is there: nothing, or the future, which has to be `Send`.
    type Kept;

    /// As the one form that the runtime knows.
    fn falling<'a>(self) -> Falling<'a, T>
    where
        Self: 'a,
        Self::Kept: Send;
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
    type Kept = ();

    fn falling<'a>(self) -> Falling<'a, T>
    where
        Self: 'a,
    {
        Box::pin(std::future::ready(Ok(self)))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Send, E: Into<BoxError>> FallbackValue<T, Fallible> for Result<T, E> {
    type Kept = ();

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
    F: Future<Output: FallbackValue<T, Kind, Kept: Send>>,
{
    type Kept = F;

    fn falling<'a>(self) -> Falling<'a, T>
    where
        Self: 'a,
        F: Send,
    {
        Box::pin(async move { self.await.falling().await })
    }
}

/// A fallback takes what is `Lent` to it.
#[diagnostic::on_unimplemented(
    message = "this node's fallback is a `{Lent}`, but this is a `{Self}`",
    label = "takes other arguments",
    note = "the arguments of a fallback are the node, then the state, if it wants it and the node has `state = ..`, and the error"
)]
pub trait FallbackParameters<Lent: Parameters>: Parameters {
    /// The same.
    fn of(lent: Lent::Taken) -> Self::Taken;
}

#[diagnostic::do_not_recommend]
impl<Lent: Parameters> FallbackParameters<Lent> for Lent {
    fn of(lent: Lent::Taken) -> Lent::Taken {
        lent
    }
}

/// A fallback that does not need the state does not take it.
#[diagnostic::do_not_recommend]
impl<'a, A: ?Sized, B: ?Sized, C: ?Sized> FallbackParameters<fn(&'a A, &'a B, &'a C)> for fn(&'a A, &'a C) {
    fn of((node, _, error): (&'a A, &'a B, &'a C)) -> (&'a A, &'a C) {
        (node, error)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A: ?Sized, B: ?Sized> FallbackParameters<fn(&'a A, &'a B)> for fn(Nothing, Nothing) {
    fn of(_: (&'a A, &'a B)) -> Self::Taken {
        (Nothing, Nothing)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A: ?Sized, B: ?Sized, C: ?Sized> FallbackParameters<fn(&'a A, &'a B, &'a C)>
    for fn(Nothing, Nothing, Nothing)
{
    fn of(_: (&'a A, &'a B, &'a C)) -> Self::Taken {
        (Nothing, Nothing, Nothing)
    }
}

/// What generated code makes of `fallback = path` on a node without a state. That the function is called here, and
/// not there, lets the compiler say at the path how it has to look.
pub fn fallback<'a, N: Node, F, Takes, Kind>(
    node: &'a N,
    error: &'a NodeError,
    path: F,
) -> Falling<'a, N::Output>
where
    F: Function<Takes, Value: FallbackValue<N::Output, Kind, Kept: Send> + 'a>,
    Takes: FallbackParameters<fn(&'a N, &'a NodeError)>,
{
    path.call(Takes::of((node, error))).falling()
}

/// The same, on a node with a state.
pub fn fallback_with_state<'a, N: Node, S: ?Sized, F, Takes, Kind>(
    node: &'a N,
    state: &'a S,
    error: &'a NodeError,
    path: F,
) -> Falling<'a, N::Output>
where
    F: Function<Takes, Value: FallbackValue<N::Output, Kind, Kept: Send> + 'a>,
    Takes: FallbackParameters<fn(&'a N, &'a S, &'a NodeError)>,
{
    path.call(Takes::of((node, state, error))).falling()
}

/// Asks the node for its value instead of this failure, and notes that the output is one.
pub(super) async fn fall_back(
    call: &CallScope<'_>,
    error: &NodeError,
    asked: &mut dyn Asked<'_>,
) -> Option<Result<(), NodeError>> {
    let value = match caught(|| asked.fall_back(error)).await {
        Ok(None) => return None,
        Ok(Some(value)) => value,
        Err(said) => {
            let message = format!("the fallback panicked: {said}; it was to stand for {error}");
            return Some(Err(NodeError::new(Category::Panic, message)));
        }
    };
    Some(match value {
        Ok(()) => {
            call.degrade(Degraded::FallbackValue);
            Ok(())
        }
        Err(fault) => {
            let message = format!("{}; its fallback failed too: {fault}", error.message());
            let category = error.category();
            Err(NodeError::new(category, message).with_retry_after(error.retry_after()).with_source(fault))
        }
    })
}
