//! What the crates above need from inside the core. Not part of the public interface: it may change in any release.
//!
//! | user | items |
//! |---|---|
//! | llmnode-cassette | `sha256_hex`, `is_credential`, `read_format`, `redact`, `write_atomically`, `Secret` |
//! | llmnode-flow | `add_usage`, `Batch`, `BoundedFutures`, `CallLimits`, `PriorSpend`, `catch_panic_async`, `CONCURRENCY`, `context`, `core`, `ProgressCounter`, `create_new`, `cut_short`, `ItemOutcome`, `error_at`, `error_of_item`, `error_of_node`, `RecorderEvent`, `without_content`, `fnv`, `IntoOutcome`, `IntoOutcomeNow`, `catch_panic`, `sha256_hex`, `LedgerImport`, `is_old_hash`, `JournaledConversation`, `JournaledAnswer`, `exact_size`, `Label`, `MAX_NESTING`, `milliseconds`, `nearest`, `items_panicked`, `NodeKey`, `Observer`, `FlowContext`, `one_line`, `OnProgress`, `Origin`, `parts`, `Position`, `read_format`, `recorded_by`, `Recorder`, `RunCore`, `same_name`, `copy_permissions`, `shortened`, `UsageSum`, `PositionExt`, `Caller`, `without_attempts` |
//! | llmnode-graph | `ask_handler`, `bounded_regex`, `ToolFn`, `capped`, `context`, `error_of_execution`, `execute_tool`, `sha256_hex`, `MAX_RESULT`, `nearest`, `NodePause`, `one_line`, `Origin`, `paused`, `refused_arguments`, `tool_conversation`, `with_origin`, `yield_in_time` |
//! | llmnode-http | `check_request`, `catch_panic`, `is_credential`, `one_line`, `reserved_fields_in_extra`, `PADDING`, `padding`, `redact`, `Secret`, `sent_bytes`, `with_remedy`, `redact_secrets` |
//! | llmnode-rag | `create_new`, `fnv`, `sha256_hex`, `one_line`, `request`, `OtherRequest`, `temp_path` |
//! | llmnode-smart | `Answer`, `AnswerForm`, `bounded_regex`, `child_calls`, `error_of_execution`, `catch_panic`, `forwarded_settings`, `sha256_hex`, `with_node_data`, `core_with_node_data`, `node_data`, `milliseconds`, `nearest`, `with_core`, `one_line`, `OnProgress`, `ReadResult`, `read_format`, `write_atomically` |
//! | llmnode-stub | `is_credential` |

pub use crate::credential::{Secret, is_credential, redact, redact_secrets};
pub use crate::error::{error_at, error_of_execution, error_of_node};
pub use crate::files::{copy_permissions, create_new, temp_path, write_atomically};
pub use crate::format::read as read_format;
pub use crate::into_outcome::{IntoOutcome, IntoOutcomeNow};
pub use crate::ledger::{
    JournaledAnswer, JournaledConversation, LedgerImport, NodeKey, Recorder, RecorderEvent, UsageSum,
    cut_short, milliseconds, without_attempts, without_content,
};
pub use crate::limits::{CallLimits, PriorSpend, RunLimits};
pub use crate::output::{Answer, AnswerForm, ReadResult};
pub use crate::panics::{catch_panic, catch_panic_async};
pub use crate::pause::NodePause;
pub use crate::position::{Label, Position, PositionExt};
pub use crate::run::{
    Batch, BoundedFutures, CONCURRENCY, Caller, FlowContext, ItemOutcome, MAX_NESTING, MAX_RESULT, Observer,
    OnProgress, Origin, OtherRequest, ProgressCounter, RunCore, Source, ToolFn, ToolRun, ask_handler, capped,
    child_calls, context, core, core_with_node_data, exact_size, execute_tool, forwarded_settings,
    items_panicked, node_data, parts, paused, recorded_by, refused_arguments, request, tool_conversation,
    with_core, with_node_data, with_origin, yield_in_time,
};
pub use crate::testing::guard::check as check_request;
pub use crate::text::{
    PADDING, bounded_regex, fnv, is_old_hash, nearest, one_line, padding, same_name, sha256_hex, shortened,
};

use crate::{Attachment, NodeError, Request, StrictError, Usage};

/// The error of one of many items.
pub fn error_of_item(error: NodeError, index: usize) -> NodeError {
    error.of_item(index)
}

/// Adds usage to a sum.
pub fn add_usage(sum: &mut Usage, usage: &Usage) {
    sum.merge(usage);
}

/// How many bytes an attachment adds to a request.
pub fn sent_bytes(attachment: &Attachment) -> usize {
    attachment.sent_bytes()
}

/// Returns the faults of extra fields that llmnode sets itself.
pub fn reserved_fields_in_extra(request: &Request) -> impl Iterator<Item = String> {
    request.reserved_fields_in_extra()
}

/// Returns the error with its remedy, for a response format that the program chose.
pub fn with_remedy(error: &StrictError) -> String {
    error.with_remedy()
}
