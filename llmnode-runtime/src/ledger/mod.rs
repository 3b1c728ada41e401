//! Who spent what: figures of every attempt, committed on every way out.

mod attempt;
mod book;
mod estimate;
mod hooks;
mod import;
pub mod milliseconds;
mod record;
mod recorder;
mod report;
mod scope;
mod spans;
mod tally;
mod usage;

pub(crate) use attempt::{KeptAs, OpenAttempt};
pub use book::NodeKey;
pub use book::{Ledger, NodeStats};
pub use estimate::Estimate;
pub(crate) use estimate::{most_tokens, prompt_tokens, text_tokens};
pub use hooks::CallInfo;
pub(crate) use hooks::Hooks;
pub use import::{Import, cut_short};
pub(crate) use record::Labels;
pub use record::{
    AttemptKind, AttemptRecord, CallRecord, Degraded, FailedTry, ToolRecord, figures, without_attempts,
};
pub use recorder::{Event, Kept, KeptAnswer, Recorder};
pub use report::LedgerReport;
pub(crate) use scope::{Around, Books, CallScope, Made};
pub(crate) use spans::Asks;
pub use tally::Tally;
pub(crate) use usage::Replayed;
pub use usage::{Cost, Tokens, Usage};
