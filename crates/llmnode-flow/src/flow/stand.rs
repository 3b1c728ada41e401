//! What stands at a step of a flow, without its type.

use llmnode_runtime::{BoxFuture, NodeError};

use super::flowing::{Flowing, Progress};
use super::outline::{Around, Outline};
use super::place::Place;
use super::table::{Arm, Table, TableStep};

/// A step, whatever its type, in a flow that decides an `A`.
pub(super) trait Stand<S, A>: Send + Sync {
    /// Executes it, and takes the edge that follows.
    fn advance<'f>(
        &'f self,
        flow: Flowing<'f, S>,
        at: (&'f Table<S, A>, &'f TableStep<S, A>),
    ) -> BoxFuture<'f, Result<Progress<A>, NodeError>>;

    /// What it looks like within these flows.
    fn outline(&self, around: Around<'_>) -> Outline;
}

/// A place on a part of the state: made by the flow where it begins, or else by itself; and what follows from its action.
pub(super) struct Stands<S, P, Make, Then> {
    pub(super) made: Option<Make>,
    pub(super) part: for<'s> fn(&'s mut S) -> &'s mut P,
    pub(super) then: Then,
}

impl<S, P, N, A, Make, Then> Stand<S, A> for Stands<S, P, Make, Then>
where
    S: Send + 'static,
    P: Send + 'static,
    N: Place<P>,
    A: Send + 'static,
    Make: Fn(&S) -> N + Send + Sync,
    Then: Fn(N::Action) -> Arm<A> + Send + Sync,
{
    fn advance<'f>(
        &'f self,
        mut flow: Flowing<'f, S>,
        (table, step): (&'f Table<S, A>, &'f TableStep<S, A>),
    ) -> BoxFuture<'f, Result<Progress<A>, NodeError>> {
        Box::pin(async move {
            let inner = flow.nested();
            // What has begun was prepared before.
            let made = self.made.as_ref().filter(|_| !inner.begun());
            let prepared = made.map(|make| inner.prepared(make)).transpose()?;
            match N::advance(inner.on(self.part)?, prepared).await? {
                Progress::On => Ok(Progress::On),
                Progress::Done(action) => table.take(step, &mut flow, || (self.then)(action)),
            }
        })
    }

    fn outline(&self, around: Around<'_>) -> Outline {
        N::outline_within(around)
    }
}
