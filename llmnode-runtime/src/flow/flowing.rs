//! A flow under way: the state to change, and the position to move.

use super::position::Position;
use crate::node::Exec;
use crate::run::{Call, RunCore};

/// A flow under way, as one of its steps sees it: the run, the state, and where the flow stands.
#[derive(Debug)]
pub struct Flowing<'f, S> {
    pub(super) core: &'f RunCore,
    pub(super) state: &'f mut S,
    pub(super) at: &'f mut Position,
    /// How many flows this one is nested in.
    pub(super) depth: usize,
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
        Flowing { core: self.core, state: part(self.state), at: self.at, depth: self.depth + 1 }
    }

    /// Calls a node on the state.
    pub(super) fn call<'n, N>(&'n self, node: &'n N) -> Call<'n, N::Output>
    where
        N: Exec<S>,
    {
        Call::new(self.core, None, &*self.state, node)
    }
}
