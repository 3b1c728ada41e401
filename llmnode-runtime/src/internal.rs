//! What the crates above need from inside the core. Not part of the public interface: it may change in any release.
//!
//! | user | items |
//! |---|---|
//! | llmnode-cassette | `sha256_hex`, `is_credential`, `read_format`, `redact`, `write_atomically`, `Secret` |
//! | llmnode-flow | `Batch`, `BoundedFutures`, `CallLimits`, `PriorSpend`, `catch_panic_async`, `CONCURRENCY`, `ProgressCounter`, `create_new`, `cut_short`, `ItemOutcome`, `RecorderEvent`, `fnv`, `IntoOutcome`, `IntoOutcomeNow`, `catch_panic`, `sha256_hex`, `LedgerImport`, `is_old_hash`, `JournaledConversation`, `JournaledAnswer`, `Label`, `milliseconds`, `nearest`, `NodeKey`, `Observer`, `FlowContext`, `one_line`, `OnProgress`, `Origin`, `Position`, `read_format`, `recorded_by`, `Recorder`, `RunCore`, `same_name`, `copy_permissions`, `UsageSum`, `PositionExt`, `Caller`, `CxInternals`, `ErrorInternals`, `RunInternals`, `JournalForm` |
//! | llmnode-graph | `bounded_regex`, `ToolFn`, `capped`, `sha256_hex`, `MAX_RESULT`, `nearest`, `NodePause`, `one_line`, `Origin`, `CxInternals`, `ErrorInternals`, `ToolsetInternals` |
//! | llmnode-http | `check_request`, `catch_panic`, `is_credential`, `one_line`, `reserved_fields_in_extra`, `PADDING`, `padding`, `redact`, `Secret`, `sent_bytes`, `with_remedy`, `redact_secrets` |
//! | llmnode-rag | `create_new`, `fnv`, `sha256_hex`, `one_line`, `OtherRequest`, `temp_path`, `CxInternals` |
//! | llmnode-smart | `Answer`, `AnswerForm`, `bounded_regex`, `catch_panic`, `sha256_hex`, `milliseconds`, `nearest`, `one_line`, `OnProgress`, `ReadResult`, `read_format`, `write_atomically`, `CxInternals`, `ErrorInternals`, `RunInternals` |
//! | llmnode-stub | `is_credential` |

pub use crate::credential::{Secret, is_credential, redact, redact_secrets};
pub use crate::error::ErrorInternals;
pub use crate::files::{copy_permissions, create_new, temp_path, write_atomically};
pub use crate::format::read as read_format;
pub use crate::into_outcome::{IntoOutcome, IntoOutcomeNow};
pub use crate::ledger::{
    JournalForm, JournaledAnswer, JournaledConversation, LedgerImport, NodeKey, Recorder, RecorderEvent,
    UsageSum, cut_short, milliseconds,
};
pub use crate::limits::{CallLimits, PriorSpend, RunLimits};
pub use crate::output::AnswerForm;
pub use crate::panics::{catch_panic, catch_panic_async};
pub use crate::pause::NodePause;
pub use crate::position::{Label, Position, PositionExt};
pub use crate::run::{
    Batch, BoundedFutures, CONCURRENCY, Caller, CxInternals, FlowContext, ItemOutcome, MAX_RESULT, Observer,
    OnProgress, Origin, OtherRequest, ProgressCounter, RunCore, RunInternals, Source, ToolFn, ToolRun,
    ToolsetInternals, capped, recorded_by,
};
pub use crate::testing::guard::check as check_request;
pub use crate::text::{PADDING, bounded_regex, fnv, is_old_hash, padding, sha256_hex};
pub use llmnode_reader::internal::{Answer, ReadResult};
pub use llmnode_reader::internal::{nearest, one_line, same_name, with_remedy};

use crate::{Attachment, Request};

/// How many bytes an attachment adds to a request.
pub fn sent_bytes(attachment: &Attachment) -> usize {
    attachment.sent_bytes()
}

/// Returns the faults of extra fields that llmnode sets itself.
pub fn reserved_fields_in_extra(request: &Request) -> impl Iterator<Item = String> {
    request.reserved_fields_in_extra()
}
