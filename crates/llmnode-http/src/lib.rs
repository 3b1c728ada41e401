//! Models that are asked over HTTP; use them through the `llmnode` crate.
//!
//! A [`Request`](llmnode_model::Request) comes in; a completion goes out, or an
//! error that has a category. One call is one request: nothing is repeated here. If
//! a server says how it would take a request that it refuses, that is remembered,
//! and the error tells the attempt loop to ask again. From the ground up:
//!
//! - `http` sends one request and reads one response, whatever is in it.
//! - `refusal` understands an error response: what of the request the server does
//!   not take, and what is sent in its place.
//! - `api` is what all APIs of models share, over a table of what differs.
//! - `openai`, `anthropic`, `gemini` fill that table: how a request is written, an
//!   answer and a stream are read.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stderr, clippy::print_stdout)]

#[cfg(feature = "anthropic")]
mod anthropic;
mod api;
#[cfg(feature = "batch")]
mod batch;
pub mod ext;
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
