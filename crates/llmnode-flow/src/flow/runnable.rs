//! What can be a step of a flow: a node, or another flow.

use std::future::Future;

use llmnode_runtime::NodeError;

use super::cursor::{FlowCursor, Progress};
use super::outline::{OuterFlows, Outline};

/// What can be a step of a flow over `S`: a [`Step`](super::Step), or another flow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of flows over `{S}`",
    label = "not a step of this state's flows",
    note = "a node with `state = T` and `store = field`, `post = path`, `route = path` or a field \
            with `#[prep(..)]` is one; others have an `impl Step<T>` below `#[llmnode::step]`",
    note = "a node with `batch = path` stands there as `Batch<Node> as Node`; a node or a flow \
            over a part of the state is written `Inner in state.part`"
)]
pub trait Runnable<S>: Sized + 'static {
    /// What it decides in the end.
    type Action: Send + 'static;

    /// Executes one step. If this begins, it uses what is `prepared` already, or
    /// else prepares itself.
    #[doc(hidden)]
    fn advance<'f>(
        flow: FlowCursor<'f, S>,
        prepared: Option<Self>,
    ) -> impl Future<Output = Result<Progress<Self::Action>, NodeError>> + Send;

    /// Returns its outline within these flows.
    #[doc(hidden)]
    fn outline_within(around: OuterFlows<'_>) -> Outline;
}

/// A step that needs nothing from the flow: it prepares itself from the state, or
/// has nothing to prepare.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of flows over `{S}`, or has parameters",
    label = "not a step of this state's flows, or not without parameters",
    note = "a node with `state = T` and `store = field`, `post = path`, `route = path` or a field \
            with `#[prep(..)]` is a step; others have an `impl Step<T>` below `#[llmnode::step]`",
    note = "a node with `batch = path` stands there as `Batch<Node> as Node`",
    note = "a flow with parameters is written `Inner {{ parameter: state.x.clone() }}`, and a node \
            or a flow over a part of the state `Inner in state.part`"
)]
pub trait Startable<S>: Runnable<S> {}

/// Returns the outline of a step, or of a flow that `flow!` declares:
/// `outline_of::<Research, _>().mermaid()`.
///
/// A flow that contains itself, directly or through others, is shown there by its
/// name, without steps.
///
/// [`FlowCall::outline`](super::FlowCall::outline) has the outline of a flow that is about to run, and
/// [`Flow::outline`](super::Flow::outline) that of a flow that was built at run time.
pub fn outline_of<F: Runnable<S>, S>() -> Outline {
    F::outline_within(OuterFlows::default())
}
