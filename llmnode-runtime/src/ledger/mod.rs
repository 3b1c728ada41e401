//! Who spent what: figures of every attempt, committed on every way out.

mod book;
mod record;
mod scope;
mod usage;

pub use book::{Ledger, NodeStats};
pub use record::{AttemptKind, AttemptRecord, CallRecord, Degraded, Flag};
pub(crate) use scope::{CallScope, OpenAttempt};
pub use usage::{TokenUsage, Tokens, Usage};
