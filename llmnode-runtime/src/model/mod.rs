//! The interface to a language model: one object-safe trait, its request and its response.

#[cfg(feature = "async-openai")]
mod async_openai;
mod chat_model;
mod completion;
mod error;
mod function;
mod message;
mod openai_content;
mod reply;
mod request;
mod response_format;
mod retry_budget;
mod scripted;
mod tool;
mod transcript;

pub use chat_model::{ChatModel, Delta, Sink};
pub use completion::{Completion, FinishReason};
pub use error::{ModelError, Retry};
pub use function::FnModel;
pub use message::{Message, Part, Role};
pub use reply::Reply;
pub use request::Request;
pub use response_format::ResponseFormat;
pub(crate) use retry_budget::BudgetedRetries;
pub use retry_budget::RetryBudget;
pub use scripted::ScriptedModel;
pub use tool::{ToolCall, ToolSpec};
