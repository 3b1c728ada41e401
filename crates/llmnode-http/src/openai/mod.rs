//! Models of OpenAI's API, and of the many servers that implement it (feature `openai`).
//!
//! One call is one request. Retries belong to the attempt loop. Every failure gets its category from the raw response
//! (status, headers, body).

pub(crate) mod answer;
mod apis;
#[cfg(feature = "async-openai")]
mod async_openai;
pub(crate) mod calls;
mod carried;
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

pub use config::OpenAiBuilder;
pub use embeddings::EmbeddingsApi;

use std::sync::Arc;

use self::apis::Apis;
use self::chunks::PartialCompletion;
use crate::api::sent_calls::IdForm;
use crate::api::wire::Wire;
use crate::http::endpoint::ApiPath;
use crate::refusal::efforts::{Effort, Efforts, Thinking};
use crate::refusal::response_formats;

/// A model behind OpenAI's API or a compatible one. It is a cheap handle: clones share the connections, the
/// [`RetryBudget`](llmnode_model::RetryBudget), and what was learned about models.
///
/// OpenAI's own host is asked by its Responses API, and any other server by chat completions, unless
/// [`responses`](OpenAi::responses) or [`chat_completions`](OpenAi::chat_completions) says otherwise. Where nobody chose and a
/// server says that the model needs the other API, it is asked by that one. At OpenAI's host, a request with audio, or with a
/// field in `extra` that only chat completions have (such as `stop`, `seed` or `reasoning_effort`), goes to these.
///
/// The handle learns from refusals: if a model refuses a setting (`max_tokens` instead of `max_completion_tokens`, a
/// `temperature`, a response format of schemas), the same call goes on without it, and later calls are asked so from the
/// beginning. If a model takes no schema, or answers with something other than JSON of the schema, a form of
/// the answer goes into the system message.
///
/// ```no_run
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::OpenAi;
///
/// # fn main() -> Result<(), llmnode_model::ModelError> {
/// let model = OpenAi::from_env()?; // OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL
/// # let _ = model;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenAi(Arc<Apis>);

const OFF: &[Thinking] =
    &[Thinking::Effort(Effort::None), Thinking::Effort(Effort::Minimal), Thinking::Effort(Effort::Low)];
const EFFORTS: &[Effort] = &[Effort::Max, Effort::XHigh, Effort::High, Effort::Medium, Effort::Low];

pub(crate) const CHAT: Wire = Wire {
    name: llmnode_model::Wire::Chat,
    provider: "openai",
    tag: "openai",
    title: "OpenAI",
    handle: "OpenAi",
    key_header: "authorization",
    key: "OPENAI_API_KEY",
    other_key: None,
    base_url: "OPENAI_BASE_URL",
    model: "OPENAI_MODEL",
    api: ApiPath { path: "/chat/completions", example: "https://api.openai.com/v1" },
    own: &["messages", "model", "stream"],
    joined: &[],
    names: None,
    formats: response_formats::ALL,
    efforts: Efforts { off: OFF, words: EFFORTS, budgets: false, field: ("reasoning_effort", "") },
    url: None,
    hosts: &[],
    limit: None,
    id_form: IdForm::Any,
    encode: request::encode,
    read: answer::read,
    stream: || Box::<PartialCompletion>::default(),
};
