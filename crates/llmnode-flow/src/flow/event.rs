//! Events of a running flow.

use std::time::Duration;

use llmnode_runtime::Category;
use llmnode_runtime::ext::{Position, RunEvent, StepRecord};

/// An event of a running flow, or of one within a step of it: see
/// [`FlowCall::on_step`](super::FlowCall::on_step).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FlowEvent<'e> {
    /// A step begins. Its prep is next.
    #[non_exhaustive]
    StepBegins {
        /// Which step.
        position: &'e Position,
        /// The name of its node.
        node: &'e str,
    },
    /// A step has ended: with an action, an error, or because the flow was dropped.
    #[non_exhaustive]
    StepEnded {
        /// The record of the step.
        step: &'e StepRecord,
        /// The position of the flow now. `None`: it is at its end.
        next: Option<&'e Position>,
    },
    /// The flow has ended in any way.
    #[non_exhaustive]
    FlowEnded {
        /// How many steps it took.
        steps: u64,
        /// The time from its start to its end.
        elapsed: Duration,
        /// What ended it. `None`: it ended with an action.
        category: Option<Category>,
    },
}

impl<'e> FlowEvent<'e> {
    /// `None`: hooks of flows are not told of it.
    pub(super) fn new(event: &RunEvent<'e>) -> Option<Self> {
        match *event {
            RunEvent::StepBegan { position, node, .. } => {
                Some(FlowEvent::StepBegins { position, node })
            }
            RunEvent::StepEnded { step, next, .. } => Some(FlowEvent::StepEnded { step, next }),
            RunEvent::FlowEnded {
                steps,
                elapsed,
                category,
                ..
            } => Some(FlowEvent::FlowEnded {
                steps,
                elapsed,
                category,
            }),
            _ => None,
        }
    }
}
