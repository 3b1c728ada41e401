//! A conversation that waits: for a person's approval of a tool's call, or for the result of a tool outside of the program.
//!
//! A round of tools that cannot end comes in; a [`Paused`] goes out in the call's error, as data that can be stored. In order:
//!
//! 1. `call_state.rs`: the conversation, with the state of each call of the round. What a person decides is remembered there, in
//!    `CallState::Approval`, and nowhere else: who stores the pause stores its decisions.
//! 2. `waiting.rs`: what is shown to a person, with hidden characters written out. `decision.rs`: what can be decided.
//! 3. `paused.rs`: decisions are put into the pause; one that fits no call that waits is refused. `questions.rs`: tools that ask
//!    something before they end.
//! 4. The call is made again with the pause, perhaps by another process after a deployment. `shown.rs` has hashes of what the
//!    conversation was based on. The node's own values must be the same, and so must the name, description and parameters of each tool
//!    whose call was approved, since a person approved what was shown. Instructions, other tools, the output and the model may
//!    differ, and the call's record says what (`CallRecord::changed_since_pause`). The comparison itself is
//!    in `run/resume.rs` and `run/shown.rs`.
//! 5. `claims.rs`: of two copies of one pause in a process, one runs.
//!
//! `unfinished.rs` is the same for a conversation that failed: nothing waits, and it goes on where it was.
//! The room asks no model and executes no tool.

mod approval;
mod call_state;
mod claims;
mod decision;
mod dynamic;
mod paused;
mod questions;
mod shown;
mod unfinished;
mod waiting;

pub use approval::Approval;
pub(crate) use approval::ApprovalFuture;
pub(crate) use approval::Approver;
pub use approval::IntoPaused;
pub use call_state::Paused;
pub(crate) use call_state::{CallState, CompactedSoFar, Conversation, OpenCall};
pub(crate) use claims::Claim;
pub(crate) use decision::Decision;
pub use dynamic::NodePause;
pub(crate) use paused::PausedError;
pub(crate) use questions::{Asked, MOST_ROUNDS};
pub use questions::{AskedReplies, AskedReply, Asks, Question};
pub(crate) use shown::Shown;
pub use unfinished::Unfinished;
pub use waiting::WaitingCall;
pub(crate) use waiting::segment;
