//! What is around a call.

use super::event::{FlowContext, Observer};
use super::listener::Listener;
use super::resume::Origin;
use crate::ledger::CallGuard;
use crate::limits::{CallLimits, Deadline};

/// What is around a call; nothing by default.
#[derive(Clone, Copy, Default)]
pub struct CallContext<'r> {
    /// The call whose node makes it.
    pub(super) call: Option<&'r CallGuard<'r>>,
    /// The limits of that call.
    pub(super) limits: Option<&'r CallLimits<'r>>,
    /// When that call, or one around it, has to end.
    pub(super) deadline: Option<&'r Deadline>,
    /// The flow whose step it is within.
    pub(super) flow: Option<&'r FlowContext<'r>>,
    /// What its answer is shown to while it is written. Not that of calls within.
    pub(super) listener: Option<&'r Listener<'r>>,
    /// Which item of a map it is.
    pub(super) item: Option<u32>,
    /// The conversation that it belongs to.
    pub(super) origin: Option<&'r Origin<'r>>,
}

impl<'r> CallContext<'r> {
    /// The same for the steps of a flow.
    #[must_use]
    pub fn of_flow(self, flow: &'r FlowContext<'r>) -> Self {
        CallContext { flow: Some(flow), ..self }
    }

    /// The same for what goes on with a conversation.
    #[must_use]
    pub fn with_origin(self, origin: Option<&'r Origin<'r>>) -> Self {
        CallContext { origin: origin.or(self.origin), ..self }
    }

    /// The flow whose step it is within.
    pub fn flow(&self) -> Option<&'r FlowContext<'r>> {
        self.flow
    }

    /// Who observes it, and the names of the calls that lead here.
    pub fn observed(&self) -> Option<(&'r dyn Observer, Vec<String>)> {
        Some((self.flow?.observer?, self.call.map(CallGuard::observed_path).unwrap_or_default()))
    }

    /// How many calls stand around.
    pub fn depth(&self) -> usize {
        self.call.map_or(0, |call| call.depth + 1)
    }

    /// The limits around.
    pub fn limits(&self) -> Option<&'r CallLimits<'r>> {
        self.limits
    }

    /// The same, within these limits.
    #[must_use]
    pub fn limited(self, limits: Option<&'r CallLimits<'r>>) -> Self {
        CallContext { limits: limits.or(self.limits), ..self }
    }
}
