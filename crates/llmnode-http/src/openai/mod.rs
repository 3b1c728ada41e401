//! Models of OpenAI's API, and of the many servers that implement it (feature `openai`).
//!
//! One call is one request. Retries belong to the attempt loop. Every failure gets
//! its category from the raw response (status, headers, body).
//!
//! Two APIs stand behind one handle (`apis.rs`): chat completions (`chat.rs`, with
//! `request.rs`, `answer.rs`, `chunks.rs`), which most servers speak, and Responses
//! (`responses`), which OpenAI's newer models need for tools. Which one a request
//! takes is learned from refusals (`refusal/switch.rs`). `providers.rs` has
//! constructors for known servers, `embeddings.rs` vectors, `batch.rs` orders of
//! many requests.

pub(crate) mod answer;
mod apis;
#[cfg(feature = "async-openai")]
mod async_openai;
#[cfg(feature = "batch")]
mod batch;
mod cache_marks;
pub(crate) mod calls;
mod carried;
mod chat;
pub(crate) mod chunks;
mod config;
mod embeddings;
mod embeddings_learned;
mod providers;
pub(crate) mod request;
pub(crate) mod response;
mod responses;
mod sent_message;
#[cfg(test)]
mod tests;

pub use apis::OpenAi;
pub use config::OpenAiBuilder;
pub use embeddings::EmbeddingsApi;
