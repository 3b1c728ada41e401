//! The runtime of llmnode; use it through the `llmnode` crate, whose macros generate code for it.
//!
//! The core knows nodes, prompts, outputs, validators, the attempt loop, the ledger and the trait of a model. HTTP
//! and flows are crates above it.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod clock;
mod conversation;
pub mod dyn_node;
mod error;
pub mod ext;
mod format;
#[doc(hidden)]
pub mod internal;
mod into_outcome;
mod ledger;
mod limits;
mod money;
mod node;
mod output;
mod pause;
mod position;
mod prices;
#[doc(hidden)]
pub mod private;
pub mod prompt;
mod run;
mod settings;
pub mod testing;
mod text;
mod validate;

pub use clock::{Clock, TestClock};
pub use conversation::{BegunTurn, Covers, NewTurn, TurnStore};
pub use dyn_node::DynNode;
pub use error::NodeError;
pub use format::FormatError;
pub use ledger::{
    AttemptKind, AttemptRecord, BatchAttempt, CacheLost, CallInfo, CallRecord, Compacted,
    CompactionCause, CompactionStep, Correction, Cost, Estimate, FailedTry, Ledger, LedgerSnapshot,
    NodeStats, Replaced, Tokens, ToolRecord, Usage, UsedFallback,
};
pub use limits::Limits;
pub use llmnode_model::{
    ApiKind, Attachment, AttemptId, Audio, BoxError, BoxFuture, Cache, CallId, Category, ChatModel,
    Completion, Delta, File, FinishReason, FnModel, Group, Image, Message, ModelError, Pace, Part,
    ProviderState, Reasoning, Reply, Request, ResponseFormat, Retry, RetryBudget, Role,
    ScriptedModel, Sink, TokenUsage, ToolCall, ToolSpec, media,
};
pub use llmnode_reader::{
    Flag, OutputSchema, ReadError, Reader, Reading, Repair, StrictError, Violation,
};
pub use node::{Node, NodeFacts, recovery_of};
pub use output::LlmOutput;
pub use pause::{Approval, Paused, Question, Unfinished, WaitingCall};
pub use prices::{Price, Prices};
pub use run::{
    BatchApi, BatchProgress, Call, CallReport, CallStream, Compact, Cx, Event, Exec, Items, Map,
    Quote, Results, Run, Summary, ToolError, ToolReply, Toolset, Transcript,
};
pub use settings::{Backoff, Failures, Recovery, Settings};
pub use validate::{AttemptInfo, Invalid};
