//! What the crates above need from inside the core. Not part of the public interface: it may change in any release.
//! What crates of others can take, too, is in [`ext`](crate::ext).
//!
//! | user | items |
//! |---|---|
//! | llmnode-cassette | `files` |
//! | llmnode-flow | `BoundedFutures`, `CallLimits`, `CONCURRENCY`, `ProgressCounter`, `files`, `ItemOutcome`, `IntoOutcome`, `IntoOutcomeNow`, `Observer`, `FlowContext`, `OnProgress`, `Origin`, `UsageSum`, `Caller`, `Ended`, `CxInternals`, `ErrorInternals`, `RunInternals` |
//! | llmnode-graph | `Origin`, `CxInternals`, `ErrorInternals`, `ToolsetInternals` |
//! | llmnode-rag | `files` |
//! | llmnode-eval | `OnProgress`, `files`, `CxInternals` |
//! | llmnode-smart | `AnswerForm`, `files`, `CxInternals`, `ErrorInternals`, `RunInternals` |

pub mod files;

pub use crate::error::ErrorInternals;
pub use crate::into_outcome::{IntoOutcome, IntoOutcomeNow};
pub use crate::ledger::UsageSum;
pub use crate::limits::CallLimits;
pub use crate::output::AnswerForm;
pub use crate::run::{
    BoundedFutures, CONCURRENCY, Caller, CxInternals, Ended, FlowContext, ItemOutcome, Observer,
    OnProgress, Origin, ProgressCounter, RunInternals, ToolsetInternals,
};
