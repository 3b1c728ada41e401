//! How a step is made from the state: by the expressions of its fields, or by a function.

use std::future::{Future, ready};
use std::marker::PhantomData;

use llmnode_runtime::internal::{Function, Nothing, Parameters};
use llmnode_runtime::{BoxError, BoxFuture, Category, NodeError};

/// A step made by the expressions of its fields: what generated code makes of `#[prep(..)]`.
#[expect(
    clippy::manual_async_fn,
    reason = "of an `async fn` the compiler asks again for every node whether it is `Send`"
)]
pub fn prepared<N>(
    make: impl FnOnce() -> Result<N, BoxError> + Send,
) -> impl Future<Output = Result<N, BoxError>> + Send {
    async move { make() }
}

/// What the function behind `prep = path` may return for a node `N`: an `N`, an `Option<N>`, a `Result<N, E>`, or a future
/// of one of them. `Kind` only tells these apart.
#[diagnostic::on_unimplemented(
    message = "this node's `prep` returns `{N}`, `Option<{N}>` or `Result<{N}, E>`, or is an `async fn` of one of them, but this returns `{Self}`",
    label = "returns something else",
    note = "`E` is any error that is `Send` and `Sync`, or a text"
)]
pub trait PrepValue<N, Kind> {
    /// What is kept until the node is there: nothing, or the future, which has to be `Send`.
    type Kept;

    /// As the one form that the runtime knows.
    fn preparing<'a>(self) -> BoxFuture<'a, Result<N, BoxError>>
    where
        Self: 'a,
        Self::Kept: Send;
}

/// The node itself.
#[derive(Debug)]
pub struct Made;
/// An option.
#[derive(Debug)]
pub struct MadePerhaps;
/// A result.
#[derive(Debug)]
pub struct MadeOrNot;
/// A future of a `Kind`.
#[derive(Debug)]
pub struct MadeLater<Kind>(PhantomData<Kind>);

macro_rules! at_once {
    ($($kind:ident for $value:ty [$($e:ident: $bound:ty)?], |$made:ident| $result:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<N: Send $(, $e: Into<$bound>)?> PrepValue<N, $kind> for $value {
            type Kept = ();

            fn preparing<'a>(self) -> BoxFuture<'a, Result<N, BoxError>>
            where
                Self: 'a,
            {
                let $made = self;
                Box::pin(ready($result))
            }
        }
    )*};
}

at_once! {
    Made for N [], |made| Ok(made);
    MadePerhaps for Option<N> [], |made| made.ok_or_else(nothing);
    MadeOrNot for Result<N, E> [E: BoxError], |made| made.map_err(Into::into);
}

#[diagnostic::do_not_recommend]
impl<N, Kind, F> PrepValue<N, MadeLater<Kind>> for F
where
    F: Future<Output: PrepValue<N, Kind, Kept: Send>>,
{
    type Kept = F;

    fn preparing<'a>(self) -> BoxFuture<'a, Result<N, BoxError>>
    where
        Self: 'a,
        F: Send,
    {
        Box::pin(async move { self.await.preparing().await })
    }
}

/// What the functions behind `prep = path` and `batch = path` take: the state.
#[diagnostic::on_unimplemented(
    message = "the functions of `prep` and `batch` are `fn(&{S})` on this node, but this is a `{Self}`",
    label = "takes other arguments"
)]
pub trait PrepParameters<'a, S: ?Sized>: Parameters {
    /// The arguments.
    fn of(state: &'a S) -> Self::Taken;
}

#[diagnostic::do_not_recommend]
impl<'a, S: ?Sized> PrepParameters<'a, S> for fn(&'a S) {
    fn of(state: &'a S) -> Self::Taken {
        (state,)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, S: ?Sized> PrepParameters<'a, S> for fn(Nothing) {
    fn of(_: &'a S) -> Self::Taken {
        (Nothing,)
    }
}

/// The making of a node `N`.
#[derive(Debug)]
pub struct Preparing<N>(PhantomData<N>);

impl<N> Preparing<N> {
    /// What generated code makes of `prep = path`. That the function is called here, and not there, lets the compiler say
    /// at the path how it has to look.
    pub fn prep<'a, S, F, Takes, Kind>(state: &'a S, path: F) -> BoxFuture<'a, Result<N, BoxError>>
    where
        S: ?Sized,
        F: Function<Takes, Value: PrepValue<N, Kind, Kept: Send> + 'a>,
        Takes: PrepParameters<'a, S>,
    {
        path.call(Takes::of(state)).preparing()
    }
}

fn nothing() -> BoxError {
    NodeError::new(Category::PrepError, "prep gave `None`").into()
}
