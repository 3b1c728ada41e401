//! What a run gains.

use std::sync::Arc;

use llmnode_runtime::Run;
use llmnode_runtime::internal::keep;

use crate::program::Program;
use crate::signature::Smart;

/// What a [`Run`] gains for nodes with a goal.
pub trait SmartExt: Sized {
    /// Sets the program that all calls of a node on this run use, in flows and other nodes too. Clones of the run made before are
    /// not changed.
    #[must_use]
    fn with_program<N: Smart>(self, program: Program<N>) -> Self;
}

impl<S> SmartExt for Run<S> {
    fn with_program<N: Smart>(self, program: Program<N>) -> Self {
        keep::<N, S>(self, Arc::new(program))
    }
}
