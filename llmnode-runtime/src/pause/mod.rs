//! A conversation that waits: for a person's approval of a tool's call, or for the result of a tool outside of the program.

mod approval;
mod of_node;
mod paused;
mod stand;
mod waiting;

pub use approval::Approval;
pub(crate) use approval::Approver;
pub use of_node::NodePause;
pub use paused::Paused;
pub(crate) use paused::{Conversation, Waits};
pub(crate) use stand::{Decision, Open, Stand};
pub use waiting::WaitingCall;
pub(crate) use waiting::segment;
