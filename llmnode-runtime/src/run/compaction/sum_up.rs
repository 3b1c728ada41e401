//! The node of the user's that sums up a part of a conversation.

use llmnode_model::BoxFuture;

use super::quotes::Sources;
use super::summary::Summary;
use super::transcript::Transcript;
use crate::error::NodeError;
use crate::node::Node;
use crate::run::cx::Cx;
use crate::run::node::Exec;

/// Sums up a part by a call of its own, within the call of the agent: it has a
/// record, costs what it costs, and counts for the limits of both.
pub(crate) trait SumUp<S: ?Sized>: Send + Sync {
    /// `sources`: what the summary may quote.
    fn sum_up<'a>(
        &'a self,
        part: Transcript,
        sources: Sources,
        cx: Cx<'a, S>,
    ) -> BoxFuture<'a, Result<Summary, NodeError>>;
}

/// A node that is made for each part.
pub(in crate::run) struct ByNode<N>(pub(in crate::run) fn(Transcript) -> N);

impl<S, N> SumUp<S> for ByNode<N>
where
    S: ?Sized + Sync,
    N: Exec<S> + Node<Output = Summary> + Send + 'static,
{
    fn sum_up<'a>(
        &'a self,
        part: Transcript,
        sources: Sources,
        cx: Cx<'a, S>,
    ) -> BoxFuture<'a, Result<Summary, NodeError>> {
        let node = (self.0)(part);
        Box::pin(async move { cx.call(&node).quoting(sources).await })
    }
}
