//! A node over many items: each is a call of its own, and all of them are one step.

use std::future::Future;

use super::name::Name;
use super::outline::Outline;
use super::step::Step;
use crate::error::NodeError;
use crate::node::Node;
use crate::run::Exec;
use crate::run::{CONCURRENCY, Cx};

/// A node whose items are nodes: it executes them side by side, with a bound, and gives their outputs in order.
///
/// Each item is a call of its own, with its own tries, fallback and record; what the call of the batch sets
/// (`run.call(&batch).temperature(0.0)`) holds for each item. The first item that fails for good ends the batch: the
/// others are cancelled, and the error says [which one](NodeError::item) it was. None is an empty list.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::flow::Batch;
/// use llmnode::{Cx, Exec, Node, NodeError, Run, ScriptedModel};
///
/// struct Double(u64);
/// impl Node for Double {
///     type Output = u64;
///     const NAME: &'static str = "double";
/// }
/// impl<S: ?Sized + Sync> Exec<S> for Double {
///     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, NodeError> {
///         Ok(self.0 * 2)
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new());
/// assert_eq!(run.call(&Batch::new([Double(1), Double(2)])).await?, [2, 4]);
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
///
/// In a flow it is a step, if its items are a [`BatchStep`].
#[derive(Clone, Debug)]
pub struct Batch<N> {
    items: Vec<N>,
    concurrency: usize,
}

impl<N> Batch<N> {
    /// A batch of these items, of which eight are under way at most.
    pub fn new(items: impl IntoIterator<Item = N>) -> Self {
        Batch { items: items.into_iter().collect(), concurrency: CONCURRENCY }
    }

    /// How many items are under way at most. Default 8; 0 counts as 1.
    #[must_use]
    pub fn concurrency(mut self, items: usize) -> Self {
        self.concurrency = items;
        self
    }

    /// The items.
    pub fn items(&self) -> &[N] {
        &self.items
    }

    /// The items, to keep.
    pub fn into_items(self) -> Vec<N> {
        self.items
    }
}

impl<N: Node> Batch<N> {
    const CALLED: &'static Name = &Name::list("Batch<", &[N::NAME], ">");
}

#[diagnostic::do_not_recommend]
impl<N: Node> Node for Batch<N> {
    type Output = Vec<N::Output>;
    const NAME: &'static str = Self::CALLED.as_str();
    const DESCRIPTION: &'static str = N::DESCRIPTION;
    const IDEMPOTENT: bool = N::IDEMPOTENT;
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized, N: Exec<S>> Exec<S> for Batch<N> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Vec<N::Output>, NodeError> {
        cx.map(&self.items).concurrency(self.concurrency).settings(cx.handed_on()).try_all().await
    }
}

/// A node that is an item of a step: the step prepares many of them from the state, executes each, and writes all
/// outputs back. In a flow it stands as `Batch<Node>`.
///
/// `#[llm_node]` implements it for nodes with `batch = path`. A node without a model implements it by hand, all in one impl below
/// `#[llmnode::step]`. Neither `prep` nor `post` is ever tried again; each item has tries of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an item of batches over `{S}`",
    label = "not an item of this state's batches",
    note = "a node with `state = T` and `batch = path` is one; others have an `impl BatchStep<T>` below `#[llmnode::step]`",
    note = "a node that is one step stands in a flow by itself, without `Batch`"
)]
pub trait BatchStep<S>: Exec<S> + Sized {
    /// What the step decides; `()`, if nothing.
    type Action: Send + 'static;

    /// How many items are under way at most; 0 counts as 1.
    const CONCURRENCY: usize = CONCURRENCY;

    /// Makes the items from the state. There may be none.
    ///
    /// # Errors
    /// What the state lacks, usually a [`Category::PrepError`](crate::Category::PrepError).
    fn prep(state: &S) -> impl Future<Output = Result<Vec<Self>, NodeError>> + Send;

    /// Writes the outputs back, which are as many as the items and in their order, and decides. It cannot wait, so
    /// that no flow that is dropped leaves half a step.
    ///
    /// # Errors
    /// Whatever ends the flow.
    fn post(items: Vec<Self>, outputs: Vec<Self::Output>, state: &mut S) -> Result<Self::Action, NodeError>;
}

impl<S: Sync, N: BatchStep<S> + Send> Step<S> for Batch<N> {
    type Action = N::Action;

    async fn prep(state: &S) -> Result<Self, NodeError> {
        let items = <N as BatchStep<S>>::prep(state).await?;
        Ok(Batch { items, concurrency: N::CONCURRENCY })
    }

    fn post(self, outputs: Vec<N::Output>, state: &mut S) -> Result<N::Action, NodeError> {
        <N as BatchStep<S>>::post(self.items, outputs, state)
    }

    fn step_outline() -> Outline {
        Outline::Batch(N::NAME.into())
    }
}
