//! What the crates above need from inside the core. Not part of the public interface: it may change in any release.
//! What crates of others can take, too, is in [`ext`](crate::ext).
//!
//! | user | items |
//! |---|---|
//! | llmnode-cassette | `files`, `read_format` |
//! | llmnode-flow | `Batch`, `BoundedFutures`, `CallLimits`, `PriorSpend`, `CONCURRENCY`, `ProgressCounter`, `files`, `cut_short`, `IntoPaused`, `ItemOutcome`, `IntoOutcome`, `IntoOutcomeNow`, `LedgerImport`, `milliseconds`, `NodeKey`, `Observer`, `FlowContext`, `OnProgress`, `Origin`, `read_format`, `recorded_by`, `RunCore`, `UsageSum`, `Caller`, `CxInternals`, `ErrorInternals`, `RunInternals`, `JournalForm` |
//! | llmnode-graph | `ToolFn`, `AgentOutcome`, `Handoff`, `capped`, `MAX_RESULT`, `NodePause`, `Origin`, `CxInternals`, `ErrorInternals`, `ToolsetInternals` |
//! | llmnode-mcp | `AskedReplies`, `AskedReply`, `Asks`, `MAX_IMAGES`, `MAX_IMAGE_BYTES`, `images_left_out` |
//! | llmnode-rag | `files`, `OtherRequest`, `CxInternals` |
//! | llmnode-eval | `milliseconds`, `OnProgress`, `files`, `read_format`, `CxInternals` |
//! | llmnode-smart | `AnswerForm`, `files`, `CxInternals`, `ErrorInternals`, `RunInternals` |
//! | llmnode-page | `milliseconds`, `read_format` |

pub mod files;

pub use crate::error::ErrorInternals;
pub use crate::format::read as read_format;
pub use crate::into_outcome::{IntoOutcome, IntoOutcomeNow};
pub use crate::ledger::{JournalForm, LedgerImport, NodeKey, UsageSum, cut_short, milliseconds};
pub use crate::limits::{CallLimits, PriorSpend};
pub use crate::output::AnswerForm;
pub use crate::pause::{AskedReplies, AskedReply, Asks, IntoPaused, NodePause};
pub use crate::run::{
    AgentOutcome, Batch, BoundedFutures, CONCURRENCY, Caller, CxInternals, FlowContext, Handoff,
    ItemOutcome, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_RESULT, Observer, OnProgress, Origin,
    OtherRequest, ProgressCounter, RunCore, RunInternals, ToolFn, ToolsetInternals,
    images_left_out, recorded_by,
};
pub use crate::text::capped;
