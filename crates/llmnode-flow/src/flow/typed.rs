//! Flows whose routes the compiler checks: what `flow!` states.

use std::sync::Arc;

use llmnode_runtime::{BoxFuture, NodeError};

use super::cursor::{FlowCursor, Progress};
use super::drive::{Bounds, Runner};
use super::outline::{OuterFlows, Outline};
use super::table::Table;

/// What `flow!` states about a flow over `S`.
pub trait FlowType<S: 'static>: Sized + 'static {
    /// What the flow decides in the end.
    type Action: Send + 'static;

    /// Its steps. Each step's type is named only here, so that one that is not a step is one error.
    fn table() -> &'static Table<S, Self::Action>;

    /// Writes the flow's parameters into the state, as it begins.
    fn enter(self, state: &mut S) {
        let _ = state;
    }
}

/// The body of `Runnable::advance` for a flow of `flow!`.
pub fn advance<'f, F: FlowType<S>, S: 'static>(
    flow: FlowCursor<'f, S>,
    prepared: Option<F>,
) -> BoxFuture<'f, Result<Progress<F::Action>, NodeError>> {
    F::table().advance(flow, prepared.map(|flow| |state: &mut S| flow.enter(state)))
}

/// The body of `Runnable::outline_within` for a flow of `flow!`.
pub fn outline<F: FlowType<S>, S: 'static>(around: OuterFlows<'_>) -> Outline {
    match around.and::<F>() {
        Some(around) => F::table().outline(around),
        None => Outline::Flow(F::table().name.clone(), Vec::new()),
    }
}

/// The body of `RunFlow::runner` for a flow of `flow!`.
pub fn runner<'r, F, S>(flow: F) -> Runner<'r, S, F::Action>
where
    F: FlowType<S> + Send + 'r,
    S: 'static,
{
    let mut entering = Some(flow);
    Runner {
        name: F::table().name.clone(),
        max_steps: F::table().max_steps,
        outline: Arc::new(|| outline::<F, S>(OuterFlows::default())),
        advance: Box::new(move |flow| advance(flow, entering.take())),
        bounds: Bounds::default(),
        shown: None,
    }
}
