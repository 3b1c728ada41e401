//! A conversation that waits: for a person's approval of a tool's call, or for the result of a tool outside of the program.

mod approval;
mod asked;
mod call_state;
mod claims;
mod decision;
mod dynamic;
mod paused;
mod shown;
mod unfinished;
mod waiting;

pub use approval::Approval;
pub(crate) use approval::ApprovalFuture;
pub(crate) use approval::Approver;
pub use approval::IntoPaused;
pub(crate) use asked::{Asked, MOST_ROUNDS};
pub use asked::{AskedReplies, AskedReply, Asks, Question};
pub use call_state::Paused;
pub(crate) use call_state::{CallState, CompactedSoFar, Conversation, OpenCall};
pub(crate) use claims::Claim;
pub(crate) use decision::Decision;
pub use dynamic::NodePause;
pub(crate) use paused::PausedError;
pub(crate) use shown::Shown;
pub use unfinished::Unfinished;
pub use waiting::WaitingCall;
pub(crate) use waiting::segment;
