//! How the items of a batch are made from the state by a function.

use std::collections::{BTreeSet, HashSet, LinkedList, VecDeque};
use std::future::{Future, ready};
use std::marker::PhantomData;

use llmnode_runtime::internal::Function;
use llmnode_runtime::{BoxError, BoxFuture, Category};

use super::prep::{PrepParameters, Preparing};
use super::wrong::wrong;

/// What the function behind `batch = path` may return for nodes `N`: a collection of them or an iterator, a `Result` of one, or
/// a future of one of these. `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "this node's `batch` returns a `Vec<{N}>` or another iterator of `{N}`, a `Result` of one, or is an `async fn` of either, \
               but this returns `{Self}`",
    label = "returns something else",
    note = "another collection is handed over by its `into_iter()`; the error of a `Result` is any that is `Send` and `Sync`, or a text"
)]
pub trait BatchValue<N, Kind> {
    /// What is kept until the items are there: nothing, or the future, which has to be `Send`.
    type Kept;

    /// As the one form that the runtime knows.
    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, BoxError>>
    where
        Self: 'a,
        N: 'a,
        Self::Kept: Send;
}

/// Many nodes. Not whatever is `IntoIterator`: an `Option` and a `Result` are, of one node, and what they say else would be
/// lost.
pub trait Many<N, Kind> {
    /// All of them.
    fn nodes(self) -> Vec<N>;
}

/// An iterator.
#[derive(Debug)]
pub struct Iterated;
/// A collection.
#[derive(Debug)]
pub struct Collected;

#[diagnostic::do_not_recommend]
impl<N, I: Iterator<Item = N>> Many<N, Iterated> for I {
    fn nodes(self) -> Vec<N> {
        self.collect()
    }
}

macro_rules! collections {
    ($([$($of:tt)*] $collection:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($of)*> Many<N, Collected> for $collection {
            fn nodes(self) -> Vec<N> {
                self.into_iter().collect()
            }
        }
    )*};
}

collections! {
    [N] Vec<N>;
    [N] Box<[N]>;
    [N, const LEN: usize] [N; LEN];
    [N] VecDeque<N>;
    [N] LinkedList<N>;
    [N] BTreeSet<N>;
    [N, H] HashSet<N, H>;
}

/// The items.
#[derive(Debug)]
pub struct Items<Kind>(PhantomData<Kind>);
/// A result of them.
#[derive(Debug)]
pub struct ItemsOrNot<Kind>(PhantomData<Kind>);
/// A future of a `Kind`.
#[derive(Debug)]
pub struct ItemsLater<Kind>(PhantomData<Kind>);

#[diagnostic::do_not_recommend]
impl<N: Send, Kind, I: Many<N, Kind>> BatchValue<N, Items<Kind>> for I {
    type Kept = ();

    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, BoxError>>
    where
        Self: 'a,
        N: 'a,
    {
        Box::pin(ready(Ok(self.nodes())))
    }
}

#[diagnostic::do_not_recommend]
impl<N: Send, Kind, I: Many<N, Kind>, E: Into<BoxError>> BatchValue<N, ItemsOrNot<Kind>> for Result<I, E> {
    type Kept = ();

    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, BoxError>>
    where
        Self: 'a,
        N: 'a,
    {
        let made = self.map(Many::nodes);
        Box::pin(ready(made.map_err(|error| wrong(Category::PrepError, "batch failed", error.into()).into())))
    }
}

#[diagnostic::do_not_recommend]
impl<N, Kind, F> BatchValue<N, ItemsLater<Kind>> for F
where
    F: Future<Output: BatchValue<N, Kind, Kept: Send>>,
{
    type Kept = F;

    fn preparing<'a>(self) -> BoxFuture<'a, Result<Vec<N>, BoxError>>
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
    pub fn batch<'a, S, F, Takes, Kind>(state: &'a S, path: F) -> BoxFuture<'a, Result<Vec<N>, BoxError>>
    where
        N: 'a,
        S: ?Sized,
        F: Function<Takes, Value: BatchValue<N, Kind, Kept: Send> + 'a>,
        Takes: PrepParameters<'a, S>,
    {
        path.call(Takes::of(state)).preparing()
    }
}
