//! Who spent what: figures of every attempt, committed on every way out.

mod attempt;
mod book;
mod estimate;
mod hooks;
#[cfg(feature = "journal")]
mod import;
pub(crate) mod milliseconds;
mod record;
mod recorder;
mod report;
mod scope;
pub(crate) mod spans;
mod tally;
mod usage;

pub(crate) use attempt::OpenAttempt;
pub(crate) use book::NodeKey;
pub use book::{Ledger, NodeStats};
pub use estimate::Estimate;
pub(crate) use estimate::{prompt_tokens, text_tokens};
pub use hooks::CallInfo;
pub(crate) use hooks::Hooks;
#[cfg(feature = "journal")]
pub(crate) use import::time_of_attempts;
pub use record::{AttemptKind, AttemptRecord, CallRecord, Degraded, FailedTry};
#[cfg(feature = "journal")]
pub(crate) use recorder::{Event, Recorder};
pub use report::LedgerReport;
pub(crate) use scope::CallScope;
pub(crate) use tally::Tally;
pub use usage::{Tokens, Usage};
