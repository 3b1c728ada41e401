//! Who follows a flow from step to step.

use llmnode_runtime::internal::{Position, RunCore};
use llmnode_runtime::{BoxFuture, NodeError};

use super::outline::Outline;

/// Follows a flow from step to step, and may put it where an earlier process left it.
pub(crate) trait Follower<S, A>: Send {
    /// Before the first step.
    fn begin<'f>(&'f mut self, flow: Beginning<'f, S>) -> BoxFuture<'f, Result<Begun<A>, NodeError>>;

    /// After a step, on the state that it left. `action`: the flow has ended with it.
    fn stepped(
        &mut self,
        left: Position,
        at: &Position,
        state: &S,
        action: Option<&A>,
    ) -> BoxFuture<'_, Result<(), NodeError>>;

    /// After a step that failed: the flow ends here.
    fn failed(&mut self) -> BoxFuture<'_, ()>;
}

/// A flow about to begin.
#[cfg_attr(not(feature = "journal"), expect(dead_code, reason = "only a journal follows flows"))]
pub(crate) struct Beginning<'f, S> {
    pub(crate) outline: Outline,
    pub(crate) core: &'f RunCore,
    pub(crate) state: &'f mut S,
    pub(crate) at: &'f mut Position,
}

/// How a flow begins.
#[cfg_attr(not(feature = "journal"), expect(dead_code, reason = "only a journal follows flows"))]
pub(crate) enum Begun<A> {
    /// With a step.
    Steps {
        /// What its calls run on.
        core: Box<RunCore>,
        /// How many steps it has taken in earlier processes.
        taken: u64,
    },
    /// Not at all: it has ended before, with this action.
    Ended(A),
}
