//! Who spent what: figures of every attempt, committed on every way out.

mod attempt;
mod call;
mod corrected;
mod estimate;
mod hooks;
pub mod milliseconds;
mod prior_usage;
mod record;
mod recorder;
mod run_recorder;
mod snapshot;
mod so_far;
mod spans;
mod store;
mod usage;
mod usage_sum;

pub(crate) use attempt::{JournalKey, OpenAttempt};
pub(crate) use call::{CallGuard, ChildCalls, Parent, Sinks};
pub use corrected::Correction;
pub use estimate::Estimate;
pub(crate) use estimate::{answer_tokens, prompt_tokens, text_tokens};
pub(crate) use hooks::Hooks;
pub use prior_usage::{LedgerImport, cut_short};
pub(crate) use record::Labels;
pub use record::{
    AttemptKind, AttemptRecord, CallRecord, FailedTry, JournalForm, ToolRecord, UsedFallback,
};
pub use recorder::{CallInfo, JournaledAnswer, JournaledConversation, Recorder, RecorderEvent};
pub(crate) use run_recorder::record as record_event;
pub use run_recorder::{RunEvent, RunRecorder, RunSetup};
pub use snapshot::{LedgerSnapshot, NodeStats};
pub(crate) use so_far::AnswerSoFar;
pub(crate) use spans::{RequestInfo, ToolSpan};
pub use store::{Ledger, NodeKey};
pub(crate) use usage::Replayed;
pub use usage::{Cost, Tokens, Usage};
pub use usage_sum::UsageSum;
