//! A node over many items: each is a call of its own.

use super::bounded::CONCURRENCY;
use super::cx::Cx;
use super::name::Name;
use super::node::Exec;
use crate::BoxError;
use crate::node::Node;

/// A node whose items are nodes: it executes them side by side, with a bound, and gives their outputs in order.
///
/// Each item is a call of its own, with its own tries, fallback and record; what the call of the batch sets
/// (`run.call(&batch).temperature(0.0)`) holds for each item; its limits and its deadline for all together. The first item that fails for good ends the batch: the
/// others are cancelled, and the error says [which one](crate::NodeError::item) it was. None is an empty list.
///
/// ```
/// # mod llmnode { pub mod flow { pub use llmnode_runtime::internal::Batch; } pub use llmnode_runtime::*; }
/// use llmnode::flow::Batch;
/// use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
///
/// struct Double(u64);
/// impl Node for Double {
///     type Output = u64;
///     const NAME: &'static str = "double";
/// }
/// impl<S: ?Sized + Sync> Exec<S> for Double {
///     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> {
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
/// In a flow it is a step, if its items are a `BatchStep`.
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

#[diagnostic::do_not_recommend]
impl<N: Node> Node for Batch<N> {
    type Output = Vec<N::Output>;
    const NAME: &'static str = const { &Name::list("Batch<", &[N::NAME], ">") }.as_str();
    const DESCRIPTION: &'static str = N::DESCRIPTION;
    const IDEMPOTENT: bool = N::IDEMPOTENT;
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized, N: Exec<S>> Exec<S> for Batch<N> {
    const TRIES_ITSELF: bool = true;

    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Vec<N::Output>, BoxError> {
        let items = cx.map(&self.items).concurrency(self.concurrency).settings(cx.handed_on());
        cx.hands_on(items.try_all()).await
    }
}
