//! Who follows a flow from step to step.

use std::any::{Any, TypeId, type_name};

use llmnode_runtime::internal::{CallLimits, Position, RunCore};
use llmnode_runtime::{BoxFuture, Category, Node, NodeError};

use super::outline::Outline;

/// Follows a flow from step to step, and may put it where an earlier process left it.
pub(crate) trait Replayer<S, A>: Send {
    /// Before the first step.
    fn begin<'f>(&'f mut self, flow: FlowStart<'f, S>) -> BoxFuture<'f, Result<StartPoint<A>, NodeError>>;

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
pub(crate) struct FlowStart<'f, S> {
    pub(crate) outline: Outline,
    pub(crate) core: &'f RunCore,
    pub(crate) state: &'f mut S,
    pub(crate) at: &'f mut Position,
    /// What the flow itself may spend.
    pub(crate) limits: Option<&'f CallLimits<'f>>,
}

/// How a flow begins.
#[cfg_attr(not(feature = "journal"), expect(dead_code, reason = "only a journal follows flows"))]
pub(crate) enum StartPoint<A> {
    /// With a step.
    Steps {
        /// What its calls run on.
        core: Box<RunCore>,
        /// How many steps it has taken in earlier processes.
        taken: u64,
        /// What the first of them has given already.
        happened: Option<ReplayedOutput>,
    },
    /// Not at all: it has ended before, with this action.
    Ended(A),
}

/// What the node of a step gave before a crash, as the program says.
pub(crate) struct ReplayedOutput {
    node: TypeId,
    name: &'static str,
    output: Box<dyn Any + Send>,
}

impl ReplayedOutput {
    #[cfg(feature = "journal")]
    pub(crate) fn of<N: Node + 'static>(output: N::Output) -> Self {
        ReplayedOutput { node: TypeId::of::<N>(), name: N::NAME, output: Box::new(output) }
    }

    /// The name of the node that it is said of.
    #[cfg(feature = "journal")]
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The output of the node, if it is the one of this step.
    pub(super) fn output<N: Node + 'static>(self, at: &Position) -> Result<N::Output, NodeError> {
        // Several nodes may have outputs of one type.
        let output = Some(self.output).filter(|_| self.node == TypeId::of::<N>());
        let output = output.and_then(|output| output.downcast::<N::Output>().ok());
        output.map(|output| *output).ok_or_else(|| {
            let message = format!(
                "`happened` has the output of the node `{}`, but the step under way at `{at}` is that of the node `{}`: \
                 give its output by `.resume(..).happened::<{}>(output)`",
                self.name,
                N::NAME,
                type_name::<N>()
            );
            NodeError::new(Category::ConfigError, message)
        })
    }
}
