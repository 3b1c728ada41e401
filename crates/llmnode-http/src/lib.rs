//! Models that are asked over HTTP; use them through the `llmnode` crate.

#![warn(clippy::print_stderr, clippy::print_stdout)]

#[cfg(feature = "anthropic")]
mod anthropic;
mod api;
#[cfg(feature = "gemini")]
mod gemini;
mod http;
mod openai;
mod refusal;

#[cfg(feature = "anthropic")]
pub use anthropic::{Anthropic, AnthropicBuilder};
/// The version of async-openai whose configuration [`OpenAiBuilder::config`] takes.
#[cfg(feature = "async-openai")]
pub use async_openai;
#[cfg(feature = "gemini")]
pub use gemini::{Gemini, GeminiBuilder};
pub use openai::{OpenAi, OpenAiBuilder};
/// The version of reqwest whose client [`OpenAiBuilder::http_client`] takes.
#[cfg(feature = "http-client")]
pub use reqwest;

/// What the other crates of llmnode call. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::http::{ClientError, PlainClient, ResponseBody};
    pub use crate::openai::EmbeddingsApi;
}
