//! What can stand in a flow: a step, or another flow.

use llmnode_runtime::{BoxFuture, NodeError};

use super::cursor::{FlowCursor, Progress};
use super::outline::{OuterFlows, Outline};

/// What can stand in a flow over `S`: a [`Step`](super::Step), or another flow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of flows over `{S}`",
    label = "not a step of this state's flows",
    note = "a node with `state = T` and `store = field`, `post = path`, `route = path` or a field with `#[prep(..)]` is one; \
            others have an `impl Step<T>` below `#[llmnode::step]`",
    note = "a node with `batch = path` stands there as `Batch<Node> as Node`; a node or a flow over a part of the state is \
            written `Inner in state.part`"
)]
pub trait Runnable<S>: Sized + 'static {
    /// What it decides in the end.
    type Action: Send + 'static;

    /// Executes one step. What is prepared already is taken as it is, where this begins.
    #[doc(hidden)]
    fn advance<'f>(
        flow: FlowCursor<'f, S>,
        prepared: Option<Self>,
    ) -> BoxFuture<'f, Result<Progress<Self::Action>, NodeError>>;

    /// What it looks like within these flows.
    #[doc(hidden)]
    fn outline_within(around: OuterFlows<'_>) -> Outline;
}

/// A place that begins by itself, since it is prepared from the state or has nothing to be prepared.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of flows over `{S}`, or has parameters",
    label = "not a step of this state's flows, or not without parameters",
    note = "a node with `state = T` and `store = field`, `post = path`, `route = path` or a field with `#[prep(..)]` is a step; \
            others have an `impl Step<T>` below `#[llmnode::step]`",
    note = "a node with `batch = path` stands there as `Batch<Node> as Node`",
    note = "a flow with parameters is written `Inner {{ parameter: state.x.clone() }}`, and a node or a flow over a part of \
            the state `Inner in state.part`"
)]
pub trait Startable<S>: Runnable<S> {}

/// What a flow that `flow!` declares, or a step, looks like: `outline_of::<Research, _>().mermaid()`.
///
/// A flow that contains itself, directly or through others, is shown there by its name, without steps.
///
/// [`FlowCall::outline`](super::FlowCall::outline) has the outline of a flow that is about to run, and
/// [`Flow::outline`](super::Flow::outline) that of a flow that was built at run time.
pub fn outline_of<F: Runnable<S>, S>() -> Outline {
    F::outline_within(OuterFlows::default())
}
