//! Who spent what: figures of every attempt, committed on every way out.
//!
//! A call opens a [`CallGuard`], and each of its attempts an [`OpenAttempt`]. While
//! these live, the call notes in them what happens; what goes out is a
//! [`CallRecord`] in the [`Ledger`], and the same events for whoever listens. In
//! this order, when an attempt or a call ends:
//!
//! 1. The record is completed (how long it took, what it cost), by the guard that
//!    ends. A guard that is *dropped* in the middle does the same, with the
//!    category `cancelled`: a future may be dropped at any point, and what was sent
//!    was paid.
//! 2. Its figures are added to the node's, under the lock of the ledger, and its
//!    span ends with them.
//! 3. Listeners are told, without a lock, since a hook may read the ledger: the
//!    journal, recordings, hooks. What can happen, who listens and in which order
//!    is one page: `events.rs`.
//!
//! The other way round at the beginning: the journal has written that an attempt
//! begins *before* its request goes out. Else a crash could lose a request that was
//! paid.
//!
//! An unknown figure is no zero: each sum says how many requests did not report it
//! (`usage.rs`). What is estimated (`estimate.rs`) is kept apart.
//!
//! The room sends nothing, decides nothing, and knows no types of the program: a
//! node is its path and its name.

mod attempt;
mod batch_attempt;
mod cache_lost;
mod call;
mod compaction;
mod corrected;
mod estimate;
mod events;
mod hooks;
pub mod milliseconds;
mod prior_usage;
mod record;
mod recorder;
mod snapshot;
mod so_far;
mod spans;
mod step;
mod store;
mod usage;
mod usage_sum;

pub(crate) use attempt::OpenAttempt;
pub use batch_attempt::BatchAttempt;
pub use cache_lost::CacheLost;
pub(crate) use call::{CallGuard, ChildCalls, Parent, Sinks};
pub(crate) use compaction::Edit;
pub use compaction::{Compacted, Compaction, CompactionCause, CompactionStep, Replaced};
pub use corrected::Correction;
pub use estimate::Estimate;
pub(crate) use estimate::{answer_tokens, prompt_tokens, text_tokens};
pub(crate) use events::record as record_event;
pub use events::{AnswerEvent, CallInfo, JournalKey, RunEvent, RunRecorder, RunSetup};
pub(crate) use hooks::Hooks;
pub use prior_usage::{LedgerImport, cut_short};
pub(crate) use record::Labels;
pub use record::{
    AttemptKind, AttemptRecord, CallRecord, FailedTry, JournalForm, ToolRecord, UsedFallback,
};
pub use recorder::{JournaledAnswer, JournaledBatch, JournaledConversation, Recorder};
pub use snapshot::{LedgerSnapshot, NodeStats};
pub(crate) use so_far::AnswerSoFar;
pub(crate) use spans::{RequestInfo, ToolSpan};
pub use step::StepRecord;
pub use store::{Ledger, NodeKey};
pub(crate) use usage::Replayed;
pub use usage::{Cost, Tokens, Usage};
pub use usage_sum::UsageSum;
