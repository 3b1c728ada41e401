//! Flows: steps that prepare themselves from the state, execute, write back and decide what follows.

mod action;
mod arm;
mod batch;
mod book;
mod call;
mod drive;
mod event;
mod flowing;
mod flows;
mod follow;
pub(crate) mod given;
mod graph;
pub(crate) mod items;
mod log;
mod name;
mod node_step;
mod outline;
mod parallel;
mod picture;
mod place;
pub(crate) mod post;
pub(crate) mod prep;
mod record;
mod step;
mod then;
mod typed;
mod wrong;

pub use crate::position::Position;
pub use action::Action;
pub use batch::{Batch, BatchStep};
pub use book::FlowWatch;
pub use call::{FlowCall, FlowReport, FlowReporting};
pub use drive::RunFlow;
pub use event::FlowEvent;
pub use flows::{Flows, Fork, Forked};
#[cfg(feature = "journal")]
pub(crate) use follow::{Beginning, Begun, Follower};
pub use graph::{Flow, FlowBuilder, FlowFault, FlowFaults, To};
pub use outline::{Outline, OutlineStep, OutlineTarget};
pub use place::{Place, Starts};
pub use record::{EdgeStats, FlowRecord, StepRecord, StepStats};
pub use step::Step;

/// What only the expansion of `flow!` names.
pub(crate) mod generated {
    pub use super::arm::{Arm, Edge, Stop, Target};
    pub use super::drive::Runner;
    pub use super::flowing::{Flowing, Progress};
    pub use super::then::{Arms, Decided, Decides, Parameter, Undecided, onward, write};
    pub use super::typed::{FlowType, Visitor, advance, outline, runner};
}
