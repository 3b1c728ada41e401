//! The runtime of llmnode; use it through the `llmnode` crate, whose macros generate code for it.
//!
//! The core knows nodes, prompts, outputs, validators, the attempt loop, the ledger and the trait of a model. HTTP
//! and flows are crates above it.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod category;
mod clock;
mod credential;
mod error;
mod files;
mod format;
mod ids;
#[doc(hidden)]
pub mod internal;
mod into_outcome;
mod ledger;
mod limits;
pub mod media;
mod model;
mod money;
mod node;
mod output;
mod panics;
mod pause;
mod position;
mod prices;
pub mod primitive;
#[doc(hidden)]
pub mod private;
pub mod prompt;
mod run;
mod settings;
pub mod testing;
mod text;
mod usage;
mod validate;

pub use category::{Category, Group};
pub use clock::{Clock, TestClock};
pub use error::NodeError;
pub use format::FormatError;
pub use ids::{AttemptId, CallId};
pub use ledger::{
    AttemptKind, AttemptRecord, CallInfo, CallRecord, Cost, Degraded, Estimate, FailedTry, Ledger,
    LedgerSnapshot, NodeStats, Tokens, ToolRecord, Usage,
};
pub use limits::Limits;
pub use llmnode_reader::{Flag, Note, OutputSchema, ReadError, Reader, Reading, StrictError, Violation};
pub use media::{Attachment, Audio, File, Image};
pub use model::{
    ChatModel, Completion, Delta, FinishReason, FnModel, Message, ModelError, Part, Reply, Request,
    ResponseFormat, Retry, RetryBudget, Role, ScriptedModel, Sink, ToolCall, ToolSpec,
};
pub use node::{Node, recovery_of};
pub use output::LlmOutput;
pub use pause::{Approval, Paused, WaitingCall};
pub use prices::{Price, Prices};
pub use primitive::Primitive;
pub use run::{
    BatchProgress, Call, CallReport, CallStream, Cx, Event, Exec, Items, Map, Results, Run, ToolError,
    ToolReply, Toolset,
};
pub use settings::{Backoff, Failures, Recovery, Settings};
pub use usage::TokenUsage;
pub use validate::{AttemptInfo, Invalid};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any error of the program.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
