//! Flows: steps that prepare themselves from the state, execute, write back and decide what follows.

mod action;
mod arm;
mod batch;
mod drive;
mod flowing;
mod follow;
mod name;
mod node_step;
mod outline;
mod parallel;
mod place;
mod position;
mod step;
mod typed;

pub use action::Action;
pub use arm::{Arm, Edge, Stop, Target};
pub use batch::{Batch, BatchStep};
pub use drive::{FlowCall, RunFlow, Runner};
pub use flowing::{Flowing, Progress};
#[cfg(feature = "journal")]
pub(crate) use follow::{Beginning, Begun, Follower};
pub use outline::{Outline, OutlineStep, OutlineTarget};
pub use place::{Place, Starts};
pub use position::Position;
pub use step::Step;
pub use typed::{FlowType, Visitor, advance, outline, runner};
