//! A step over many items: each is a call of its own, and all of them are one step.

use std::future::Future;

use llmnode_runtime::ext::Batch;
use llmnode_runtime::internal::CONCURRENCY;
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError};

use super::outline::Outline;
use super::step::Step;

/// A node that is an item of a step: the step prepares many of them from the state,
/// executes each, and writes all outputs back. In a flow it is written
/// `Batch<Node>`.
///
/// `#[llm_node]` implements it for nodes with `batch = path`. A node without a
/// model implements it by hand, all in one impl below `#[llmnode::step]`. `prep`
/// and `post` are never retried; each item has its own retries.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an item of batches over `{S}`",
    label = "not an item of this state's batches",
    note = "a node with `state = T` and `batch = path` is one; others have an `impl BatchStep<T>` \
            below `#[llmnode::step]`",
    note = "a node that is one step stands in a flow by itself, without `Batch`"
)]
pub trait BatchStep<S>: Exec<S, Output = <Self as BatchStep<S>>::Output> + Sized {
    /// The output of each item, as in [`Step::Output`].
    type Output: Send + 'static;

    /// What the step decides; `()`, if nothing.
    type Action: Send + 'static;

    /// How many items are under way at most; 0 counts as 1.
    const CONCURRENCY: usize = CONCURRENCY;

    /// Makes the items from the state. There may be none.
    ///
    /// # Errors
    /// Any error, as in [`Step::prep`].
    fn prep(state: &S) -> impl Future<Output = Result<Vec<Self>, BoxError>> + Send;

    /// Calls [`Exec::exec`], as [`Step::exec`] does.
    ///
    /// # Errors
    /// Any error, as in [`Exec::exec`].
    fn exec(
        &self,
        cx: &Cx<'_, S>,
    ) -> impl Future<Output = Result<<Self as BatchStep<S>>::Output, BoxError>> + Send {
        Exec::exec(self, cx)
    }

    /// Writes the outputs back, one for each item in their order, and decides. It
    /// is not async, so that a dropped flow leaves no half step. What it wrote
    /// before it fails or panics stays: check first, then write.
    ///
    /// # Errors
    /// Any error, as in [`Step::post`].
    fn post(
        items: Vec<Self>,
        outputs: Vec<<Self as BatchStep<S>>::Output>,
        state: &mut S,
    ) -> Result<Self::Action, BoxError>;
}

impl<S: Sync, N: BatchStep<S> + Send> Step<S> for Batch<N> {
    type Output = Vec<<N as Node>::Output>;
    type Action = N::Action;

    async fn prep(state: &S) -> Result<Self, BoxError> {
        let items = <N as BatchStep<S>>::prep(state).await?;
        Ok(Batch::new(items).concurrency(N::CONCURRENCY))
    }

    fn post(self, outputs: Vec<<N as Node>::Output>, state: &mut S) -> Result<N::Action, BoxError> {
        let items = self.items().len();
        let count = outputs.len();
        if items != count {
            let message = format!(
                "`{}` has {items} items, and {count} outputs were given for them",
                Self::NAME
            );
            return Err(NodeError::new(Category::ConfigError, message).into());
        }
        <N as BatchStep<S>>::post(self.into_items(), outputs, state)
    }

    fn step_outline() -> Outline {
        Outline::Batch(N::NAME.into())
    }
}
