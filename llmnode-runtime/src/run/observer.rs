//! Who observes the calls of a flow: their answers while they are written, and the steps of flows within them.

use std::any::Any;

use super::stream::Event;
use crate::ledger::UsageSum;

/// Observes a step of a flow, and all that is called within it.
pub trait Observer: Sync {
    /// Whether somebody reads answers while they are written.
    fn listens(&self) -> bool;

    /// Something happened to the answer of a call. `calls`: the names of the calls that lead to it, the outermost first, and its own.
    fn event(&self, calls: &[String], event: &Event);

    /// A flow within the call of these names began or ended a step. Flows know what they hand on here.
    fn step(&self, calls: &[String], step: &mut dyn Any);
}

/// What all calls within a step of a flow have in common.
#[derive(Clone, Copy)]
pub struct FlowContext<'r> {
    /// What adds up their attempts.
    pub usage_sum: &'r UsageSum<'r>,
    /// Who observes them.
    pub observer: Option<&'r dyn Observer>,
}
