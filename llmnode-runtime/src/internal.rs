//! What the crates above need of the core's inside. Not part of the public interface: it may change in any release.
//!
//! | user | items |
//! |---|---|
//! | llmnode-cassette | `hashed`, `is_credential`, `read_format`, `redact`, `replace`, `Secret` |
//! | llmnode-flow | `add_usage`, `Batch`, `Bounded`, `CallLimits`, `Carried`, `caught`, `CONCURRENCY`, `context`, `core`, `Counter`, `create_new`, `cut_short`, `Ended`, `error_at`, `error_of_item`, `error_of_node`, `Event`, `figures`, `fnv`, `Gives`, `GivesNow`, `guarded`, `hashed`, `Import`, `is_old_hash`, `Kept`, `KeptAnswer`, `known`, `Label`, `MAX_NESTING`, `milliseconds`, `nearest`, `no_next_item`, `NodeKey`, `Observer`, `OfFlow`, `one_line`, `OnProgress`, `Origin`, `parts`, `Position`, `read_format`, `recorded_by`, `Recorder`, `RunCore`, `same_name`, `share`, `shortened`, `Tally`, `Walk`, `Within`, `without_attempts` |
//! | llmnode-graph | `ask_handler`, `bounded_regex`, `Calls`, `capped`, `context`, `error_of_execution`, `execute_tool`, `hashed`, `MAX_RESULT`, `nearest`, `NodePause`, `one_line`, `Origin`, `paused`, `refused_arguments`, `rounds`, `with_origin`, `yield_in_time` |
//! | llmnode-http | `check_request`, `guarded`, `is_credential`, `one_line`, `own_fields_in_extra`, `PADDING`, `padding`, `redact`, `Secret`, `sent_bytes`, `with_remedy`, `without` |
//! | llmnode-rag | `create_new`, `fnv`, `hashed`, `one_line`, `request`, `Requests`, `unused_name` |
//! | llmnode-smart | `Answer`, `AnswerForm`, `bounded_regex`, `calls`, `error_of_execution`, `guarded`, `handed_on`, `hashed`, `keep`, `keeping`, `kept`, `milliseconds`, `nearest`, `on_core`, `one_line`, `OnProgress`, `Read`, `read_format`, `replace` |
//! | llmnode-stub | `is_credential` |

pub use crate::credential::{Secret, is_credential, redact, without};
pub use crate::error::{error_at, error_of_execution, error_of_node};
pub use crate::files::{create_new, replace, share, unused_name};
pub use crate::format::read as read_format;
pub use crate::function::{Gives, GivesNow};
pub use crate::ledger::{
    Event, Import, Kept, KeptAnswer, NodeKey, Recorder, Tally, cut_short, figures, milliseconds,
    without_attempts,
};
pub use crate::limits::{CallLimits, Carried, RunLimits};
pub use crate::output::{Answer, AnswerForm, Read};
pub use crate::panics::{caught, guarded};
pub use crate::pause::NodePause;
pub use crate::position::{Label, Position, Walk};
pub use crate::run::{
    Batch, Bounded, CONCURRENCY, Calls, Counter, Ended, MAX_NESTING, MAX_RESULT, Observer, OfFlow,
    OnProgress, Origin, Requests, RunCore, Source, ToolRun, Within, ask_handler, calls, capped, context,
    core, execute_tool, handed_on, keep, keeping, kept, known, no_next_item, on_core, parts, paused,
    recorded_by, refused_arguments, request, rounds, with_origin, yield_in_time,
};
pub use crate::testing::guard::check as check_request;
pub use crate::text::{
    PADDING, bounded_regex, fnv, hashed, is_old_hash, nearest, one_line, padding, same_name, shortened,
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

/// What is wrong with further fields of a request that cannot be any.
pub fn own_fields_in_extra(request: &Request) -> impl Iterator<Item = String> {
    request.own_fields_in_extra()
}

/// The error where the dialect was chosen, which is one thing that can be mended.
pub fn with_remedy(error: &StrictError) -> String {
    error.with_remedy()
}
