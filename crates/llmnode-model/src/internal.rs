//! What llmnode's crates need from inside. Not part of the public interface: it may change in any release.

pub use crate::answer_limit::{AnswerLimit, LimitSetter};
pub use crate::api_kind::join_field;
pub use crate::cache::{CachePlan, Repeats};
pub use crate::credential::{Secret, is_credential, redact, redact_secrets};
pub use crate::gate::{Entry, Gate, Gates, PaceTicket, RateLimit, RateLimits, Slot, Ticket};
pub use crate::ids::Ids;
pub use crate::json_text::{inexact_number, pretty};
pub use crate::message_json::Content;
pub use crate::panics::{catch_panic, catch_panic_async, lock};
pub use crate::prompt_parts::{PromptChange, PromptParts, SentPrompt, ToolPart};
pub use crate::provider_state::{CarriedPart, Json};
pub use crate::redactor::Redactor;
pub use crate::retry_budget::BudgetedRetries;
pub use crate::testing::guard::check as check_request;
pub use crate::text::{
    PADDING, Sha256Text, fnv, is_document, is_old_hash, padding, sha256, sha256_hex,
};
pub use crate::tool::{CALL_TOOL, FoundTools, FoundWay, SEARCH_TOOLS};
pub use crate::window::window_in;
pub use llmnode_reader::text::{is_hidden, is_unseen, visible};
