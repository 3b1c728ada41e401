//! The interface to a language model: one object-safe trait, its request and its response.
//!
//! [`ChatModel`] is what a provider implements: `llmnode-http` has one, [`testing`] those that answer by a script. Use it
//! through the `llmnode` crate, unless you write a provider.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod answer_limit;
mod api_kind;
#[cfg(feature = "async-openai")]
mod async_openai;
pub mod batch;
mod cache;
mod category;
mod chat_model;
mod completion;
mod credential;
mod error;
pub mod ext;
pub mod gate;
mod ids;
#[doc(hidden)]
pub mod internal;
mod json_text;
pub mod media;
mod message;
mod message_json;
mod pace;
mod panics;
mod prompt_parts;
mod provider_state;
mod reasoning;
mod redactor;
mod request;
mod response_format;
mod retry_budget;
mod sink;
pub mod testing;
mod text;
mod tool;
mod transcript;
mod usage;
mod window;

pub use api_kind::ApiKind;
pub use cache::Cache;
pub use category::{Category, Group};
pub use chat_model::ChatModel;
pub use completion::{Completion, FinishReason};
pub use error::{ModelError, Retry};
pub use ids::{AttemptId, CallId};
pub use media::{Attachment, Audio, File, Image};
pub use message::{Message, Part, Role};
pub use pace::Pace;
pub use provider_state::ProviderState;
pub use reasoning::Reasoning;
pub use request::Request;
pub use response_format::ResponseFormat;
pub use retry_budget::RetryBudget;
pub use sink::{Delta, Sink};
pub use testing::{FnModel, Reply, ScriptedModel};
pub use tool::{ToolCall, ToolSpec};
pub use usage::TokenUsage;

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any error of the program. `?` makes one of every error that can be sent to
/// another thread, and of a text.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::BoxError;
///
/// fn port(text: &str) -> Result<u16, BoxError> {
///     if text.is_empty() {
///         return Err("there is no port".into());
///     }
///     Ok(text.parse()?)
/// }
///
/// assert_eq!(port("").unwrap_err().to_string(), "there is no port");
/// assert!(port("http").is_err());
/// ```
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
