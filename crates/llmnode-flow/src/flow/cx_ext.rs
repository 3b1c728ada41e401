//! A flow within a node.

use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::{BoxFuture, Cx, NodeError};
use tracing::Instrument;

use super::drive::{FlowDriver, RunFlow, RunOptions};
use super::watchers::Watchers;

/// The method for flows of a [`Cx`]. It is in the prelude.
pub trait CxExt {
    /// Runs a flow on a state of its own, within the call of the node: what it
    /// spends counts for the limits of the call, and is in the record of the step
    /// that the call belongs to. Returns the state and the action.
    ///
    /// It is part of the node's execution: a journal does not keep its position.
    /// Hooks of the outer flow, such as
    /// [`on_step`](super::FlowCall::on_step), are called for its steps, at positions below that of the step.
    ///
    /// # Errors
    /// The error of the step that ended it. The state is lost then.
    fn flow<'c, P, F>(
        &'c self,
        flow: F,
        state: P,
    ) -> BoxFuture<'c, Result<(P, F::Action), NodeError>>
    where
        F: RunFlow<'c, P>,
        P: Send + Sync + 'c;
}

impl<S: ?Sized + Sync> CxExt for Cx<'_, S> {
    fn flow<'c, P, F>(
        &'c self,
        flow: F,
        mut state: P,
    ) -> BoxFuture<'c, Result<(P, F::Action), NodeError>>
    where
        F: RunFlow<'c, P>,
        P: Send + Sync + 'c,
    {
        let runner = flow.runner();
        Box::pin(async move {
            let (core, within) = self.caller();
            let watchers = within.observed().map(Watchers::within).unwrap_or_default();
            let options = RunOptions {
                within,
                watchers,
                ..RunOptions::default()
            };
            let drive = FlowDriver::begin(core, &mut state, runner, options)?;
            let span = drive.span();
            let action = drive.finish().instrument(span).await?;
            Ok((state, action))
        })
    }
}
