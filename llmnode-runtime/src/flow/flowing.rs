//! A flow under way: the state to change, and the position to move.

use tracing::Span;

use super::log::Log;
use crate::ledger::Tally;
use crate::node::Exec;
use crate::position::{Label, Position};
use crate::run::{CallFuture, RunCore, Within};

/// A flow under way, as one of its steps sees it: the run, the state, and where the flow stands.
pub struct Flowing<'f, S> {
    pub(super) core: &'f RunCore,
    pub(super) state: &'f mut S,
    pub(super) at: &'f mut Position,
    /// How many flows this one is nested in.
    pub(super) depth: usize,
    /// Adds up what the step uses.
    pub(super) tally: &'f Tally,
    pub(super) log: &'f mut (dyn Log + 'f),
}

/// What one step came to.
#[derive(Debug)]
pub enum Progress<A> {
    /// The flow goes on where its position is now.
    On,
    /// The flow, or the step, has ended with this action.
    Done(A),
}

impl<'f, S> Flowing<'f, S> {
    /// The same for what is nested here, on a part of the state.
    pub(super) fn nested<'n, P>(&'n mut self, part: impl FnOnce(&'n mut S) -> &'n mut P) -> Flowing<'n, P> {
        Flowing {
            core: self.core,
            state: part(self.state),
            at: self.at,
            depth: self.depth + 1,
            tally: self.tally,
            log: self.log,
        }
    }

    /// The step itself begins here: what executes runs in the span.
    pub(super) fn begins(&mut self, node: &str) -> Span {
        self.log.begins(self.at, node)
    }

    /// Leaves the step at this depth by an edge that leads to another one.
    pub(super) fn goes(&mut self, action: &str, step: usize, label: Label) {
        self.log.takes(self.at, self.depth, action);
        self.at.go(self.depth, step, label);
    }

    /// Leaves the flow at this depth by an edge.
    pub(super) fn ends(&mut self, action: &str) {
        self.log.takes(self.at, self.depth, action);
    }

    /// Calls a node on the state.
    pub(super) fn call<'n, N>(&'n self, node: &'n N) -> CallFuture<'n, N::Output>
    where
        N: Exec<S>,
    {
        CallFuture::begin(self.core, Within::tallied(self.tally), &*self.state, node)
    }
}

impl<S> std::fmt::Debug for Flowing<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flowing").field("at", &self.at).field("depth", &self.depth).finish_non_exhaustive()
    }
}
