//! Who spent what: figures of every attempt, committed on every way out.

mod book;
mod estimate;
mod record;
mod scope;
mod usage;

pub use book::{Ledger, NodeStats};
pub(crate) use estimate::prompt_tokens;
pub use record::{AttemptKind, AttemptRecord, CallRecord, Degraded, Flag};
pub(crate) use scope::{CallScope, OpenAttempt};
pub use usage::{TokenUsage, Tokens, Usage};
