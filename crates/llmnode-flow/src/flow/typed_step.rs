//! A step of a type that is known when the program is compiled.

use llmnode_runtime::{BoxFuture, NodeError};

use super::cursor::{FlowCursor, Progress};
use super::outline::{OuterFlows, Outline};
use super::runnable::{Runnable, Startable};
use super::table::{Arm, Edge, ErasedStep, Table, TableStep};

/// A step over a part of the state. Without `made` it prepares itself.
pub(super) struct TypedStep<S, P, Make, Then> {
    pub(super) made: Option<Make>,
    pub(super) part: for<'s> fn(&'s mut S) -> &'s mut P,
    pub(super) then: Then,
}

impl<S, P, N, A, Make, Then> ErasedStep<S, A> for TypedStep<S, P, Make, Then>
where
    S: Send + 'static,
    P: Send + 'static,
    N: Runnable<P>,
    A: Send + 'static,
    Make: Fn(&S) -> N + Send + Sync,
    Then: Fn(N::Action) -> Arm<A> + Send + Sync,
{
    fn advance<'f>(
        &'f self,
        mut flow: FlowCursor<'f, S>,
        (table, step): (&'f Table<S, A>, &'f TableStep<S, A>),
    ) -> BoxFuture<'f, Result<Progress<A>, NodeError>> {
        Box::pin(async move {
            let inner = flow.nested();
            // A nested flow that has begun was prepared before.
            let made = self.made.as_ref().filter(|_| !inner.begun());
            let prepared = made.map(|make| inner.prepared(make)).transpose()?;
            match N::advance(inner.on(self.part)?, prepared).await? {
                Progress::Continue => Ok(Progress::Continue),
                Progress::Done(action) => table.take_edge(step, &mut flow, || (self.then)(action)),
            }
        })
    }

    fn outline(&self, around: OuterFlows<'_>) -> Outline {
        N::outline_within(around)
    }
}

impl<S: Send + 'static, A: Send + 'static> Table<S, A> {
    /// Adds a step that prepares itself, and what follows from its action.
    #[must_use]
    pub fn step<N: Startable<S>>(
        self,
        label: &'static str,
        edges: impl Into<Vec<Edge>>,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self {
        self.step_in::<N, S>(label, edges, |state| state, then)
    }

    /// Adds a step that prepares itself from a part of the state.
    #[must_use]
    pub fn step_in<N: Startable<P>, P: Send + 'static>(
        self,
        label: &'static str,
        edges: impl Into<Vec<Edge>>,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self {
        self.erased_step(label, edges, TypedStep { made: None::<fn(&S) -> N>, part, then })
    }

    /// Adds a step that the flow itself prepares.
    #[must_use]
    pub fn step_with<N: Runnable<P>, P: Send + 'static>(
        self,
        label: &'static str,
        edges: impl Into<Vec<Edge>>,
        make: fn(&S) -> N,
        part: for<'s> fn(&'s mut S) -> &'s mut P,
        then: fn(N::Action) -> Arm<A>,
    ) -> Self {
        self.erased_step(label, edges, TypedStep { made: Some(make), part, then })
    }
}
