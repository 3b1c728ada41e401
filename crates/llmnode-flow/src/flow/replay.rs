//! What a journal does at each step of a flow.

use std::any::{Any, TypeId, type_name};

use llmnode_runtime::ext::{Position, RunCore};
use llmnode_runtime::internal::CallLimits;
use llmnode_runtime::{BoxFuture, Category, Node, NodeError};

use super::outline::Outline;

pub(crate) trait Replayer<S, A>: Send {
    fn begin<'f>(
        &'f mut self,
        flow: FlowStart<'f, S>,
    ) -> BoxFuture<'f, Result<StartPoint<A>, NodeError>>;

    /// `action`: the flow has ended.
    fn step_ended(
        &mut self,
        left: Position,
        at: &Position,
        state: &S,
        action: Option<&A>,
    ) -> BoxFuture<'_, Result<(), NodeError>>;

    /// Cannot fail, since the flow ends with the error of the step.
    fn failed(&mut self) -> BoxFuture<'_, ()>;
}

#[cfg_attr(
    not(feature = "journal"),
    expect(dead_code, reason = "only a journal follows flows")
)]
pub(crate) struct FlowStart<'f, S> {
    pub(crate) outline: Outline,
    pub(crate) core: &'f RunCore,
    pub(crate) state: &'f mut S,
    pub(crate) at: &'f mut Position,
    pub(crate) limits: Option<&'f CallLimits<'f>>,
}

#[cfg_attr(
    not(feature = "journal"),
    expect(dead_code, reason = "only a journal follows flows")
)]
pub(crate) enum StartPoint<A> {
    Steps {
        core: Box<RunCore>,
        /// How many steps earlier processes completed.
        taken: u64,
        happened: Option<ReplayedOutput>,
    },
    Ended(A),
}

pub(crate) struct ReplayedOutput {
    node: TypeId,
    name: &'static str,
    output: Box<dyn Any + Send>,
}

impl ReplayedOutput {
    #[cfg(feature = "journal")]
    pub(crate) fn of<N: Node + 'static>(output: N::Output) -> Self {
        ReplayedOutput {
            node: TypeId::of::<N>(),
            name: N::NAME,
            output: Box::new(output),
        }
    }

    #[cfg(feature = "journal")]
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn output<N: Node + 'static>(self, at: &Position) -> Result<N::Output, NodeError> {
        // By node, since several nodes may have outputs of one type.
        let output = Some(self.output).filter(|_| self.node == TypeId::of::<N>());
        let output = output.and_then(|output| output.downcast::<N::Output>().ok());
        output.map(|output| *output).ok_or_else(|| {
            let message = format!(
                "`happened` has the output of the node `{}`, but the step under way at `{at}` is \
                 that of the node `{}`: give its output by `.resume(..).happened::<{}>(output)`",
                self.name,
                N::NAME,
                type_name::<N>()
            );
            NodeError::new(Category::ConfigError, message)
        })
    }
}
