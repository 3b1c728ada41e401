//! A node over many items: each is a call of its own.

use llmnode_model::BoxError;

use super::bounded::CONCURRENCY;
use super::cx::Cx;
use super::name::ConstName;
use super::node::Exec;
use crate::node::{Node, NodeFacts};

/// A node over many items: it executes them concurrently, with a bound, and returns
/// their outputs in order.
///
/// Each item is a call with its own retries, fallback and record. Settings of the
/// batch's call (`run.call(&batch).temperature(0.0)`) apply to each item, its
/// limits and its deadline to all together. The first item that fails ends the
/// batch: the others are cancelled, and the error says [which
/// one](crate::NodeError::item) failed. A batch without items returns an empty
/// list.
///
/// ```
/// # mod llmnode { pub mod flow { pub use llmnode_runtime::ext::Batch; } pub use llmnode_runtime::*; }
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
/// In a flow it is a step if its items implement `BatchStep`.
#[derive(Clone, Debug)]
pub struct Batch<N> {
    items: Vec<N>,
    concurrency: usize,
}

impl<N> Batch<N> {
    /// A batch of these items. Eight run at once.
    pub fn new(items: impl IntoIterator<Item = N>) -> Self {
        Batch {
            items: items.into_iter().collect(),
            concurrency: CONCURRENCY,
        }
    }

    /// Sets how many items run at once. Default 8; 0 counts as 1.
    #[must_use]
    pub fn concurrency(mut self, items: usize) -> Self {
        self.concurrency = items;
        self
    }

    /// Returns the items.
    pub fn items(&self) -> &[N] {
        &self.items
    }

    /// Returns the items, and drops the batch.
    pub fn into_items(self) -> Vec<N> {
        self.items
    }
}

#[diagnostic::do_not_recommend]
impl<N: Node> Node for Batch<N> {
    type Output = Vec<N::Output>;
    const NAME: &'static str = const { &ConstName::list("Batch<", &[N::NAME], ">") }.as_str();
    // The limits of the item's node hold for the calls of the items.
    const FACTS: NodeFacts = NodeFacts::new()
        .description(N::FACTS.description)
        .idempotent(N::FACTS.idempotent)
        .retries_itself(true);
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized, N: Exec<S>> Exec<S> for Batch<N> {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<Vec<N::Output>, BoxError> {
        let items = cx
            .map(&self.items)
            .concurrency(self.concurrency)
            .settings(cx.forwarded_settings());
        cx.with_call_deadline(items.try_all()).await
    }
}
