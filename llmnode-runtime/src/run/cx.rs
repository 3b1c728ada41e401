//! What a node sees of the run while it executes.

use std::fmt;

use super::call::Call;
use super::run::RunCore;
use crate::ledger::CallScope;
use crate::node::Exec;
use crate::settings::Settings;

/// The context of one call: the state to read, and a way to call other nodes, accounted.
pub struct Cx<'r, S: ?Sized> {
    pub(super) core: &'r RunCore,
    pub(super) state: &'r S,
    pub(super) scope: &'r CallScope<'r>,
    pub(super) settings: &'r Settings,
}

impl<'r, S: ?Sized> Cx<'r, S> {
    /// The state of the run.
    pub fn state(&self) -> &'r S {
        self.state
    }

    /// What this call sets for itself: `run.call(&node).temperature(0.0)`. A node that asks models through others
    /// hands it on, if that is meant: `cx.call(&other).settings(cx.settings().clone())`.
    pub fn settings(&self) -> &'r Settings {
        self.settings
    }

    /// Calls another node on the same run and state; it has its own record and figures.
    pub fn call<'c, N: Exec<S>>(&'c self, node: &'c N) -> Call<'c, N::Output>
    where
        S: Sync,
    {
        Call::new(self.core, Some(self.scope.id()), self.state, node)
    }
}

impl<S: ?Sized> fmt::Debug for Cx<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cx {{ node: {:?} }}", self.scope.node())
    }
}
