//! How the items of a batch are made from the state by a function.

use std::future::{Future, ready};
use std::marker::PhantomData;

use super::prep::{PrepParameters, Preparing};
use super::wrong::wrong;
use crate::category::Category;
use crate::error::NodeError;
use crate::function::Function;
use crate::{BoxError, BoxFuture};

/// What the function behind `batch = path` may return for nodes `N`: whatever iterates over them, a `Result` of it, or a
/// future of one of these. `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "this node's `batch` returns a `Vec<{N}>` or another iterator of `{N}`, a `Result` of one, or is an `async fn` of either, \
               but this returns `{Self}`",
    label = "returns something else",
    note = "the error of a `Result` is any that is `Send` and `Sync`, or a text"
)]
pub trait BatchValue<N, Kind> {
    /// What is kept until the items are there: nothing, or the future, which has to be `Send`.
    type Kept;

    /// As the one form that the runtime knows.
    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, NodeError>>
    where
        Self: 'a,
        N: 'a,
        Self::Kept: Send;
}

/// The items.
#[derive(Debug)]
pub struct Items;
/// A result of them.
#[derive(Debug)]
pub struct ItemsOrNot;
/// A future of a `Kind`.
#[derive(Debug)]
pub struct ItemsLater<Kind>(PhantomData<Kind>);

#[diagnostic::do_not_recommend]
impl<N: Send, I: IntoIterator<Item = N>> BatchValue<N, Items> for I {
    type Kept = ();

    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, NodeError>>
    where
        Self: 'a,
        N: 'a,
    {
        Box::pin(ready(Ok(self.into_iter().collect())))
    }
}

#[diagnostic::do_not_recommend]
impl<N: Send, I: IntoIterator<Item = N>, E: Into<BoxError>> BatchValue<N, ItemsOrNot> for Result<I, E> {
    type Kept = ();

    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, NodeError>>
    where
        Self: 'a,
        N: 'a,
    {
        let made = self.map(|items| items.into_iter().collect());
        Box::pin(ready(made.map_err(|error| wrong(Category::PrepError, "batch failed", error.into()))))
    }
}

#[diagnostic::do_not_recommend]
impl<N, Kind, F> BatchValue<N, ItemsLater<Kind>> for F
where
    F: Future<Output: BatchValue<N, Kind, Kept: Send>>,
{
    type Kept = F;

    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, NodeError>>
    where
        Self: 'a,
        N: 'a,
        F: Send,
    {
        Box::pin(async move { self.await.preparing().await })
    }
}

impl<N> Preparing<N> {
    /// What generated code makes of `batch = path`.
    pub fn batch<'a, S, F, Takes, Kind>(state: &'a S, path: F) -> BoxFuture<'a, Result<Vec<N>, NodeError>>
    where
        N: 'a,
        S: ?Sized,
        F: Function<Takes, Value: BatchValue<N, Kind, Kept: Send> + 'a>,
        Takes: PrepParameters<'a, S>,
    {
        path.call(Takes::of(state)).preparing()
    }
}
