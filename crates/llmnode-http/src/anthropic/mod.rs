//! Anthropic's models, by their own Messages API (feature `anthropic`).
//!
//! What is peculiar to it: turns alternate, so messages of one side in a row become
//! one (`turns.rs`); the system's text stands apart; a limit of tokens is required;
//! the cache keeps what stands before a mark, of which there are four (`marks.rs`);
//! thoughts are signed and have to go back unchanged.
//!
//! A request goes `request.rs` (the body), `turns.rs` (its conversation),
//! `marks.rs` (the cache). An answer comes `answer.rs` or `stream.rs`, and in both
//! cases through `blocks.rs`; `usage.rs` adds up what is billed. All else, retries
//! of refused fields included, is `api`.

mod answer;
#[cfg(feature = "batch")]
mod batch;
mod blocks;
mod config;
mod marks;
mod request;
mod stream;
mod turns;
mod usage;

pub use config::AnthropicBuilder;

use std::sync::Arc;

use llmnode_model::ResponseFormat;
use llmnode_reader::ask::Profile;

use crate::api::handle::chat_model;
use crate::api::inner::Inner;
use crate::api::sent_calls::IdForm;
use crate::api::wire::Wire;
use crate::http::endpoint::ApiPath;
use crate::refusal::efforts::{Effort, Efforts, Thinking};
use crate::refusal::response_formats::Formats;

/// A model of Anthropic, or of a server or gateway that speaks its Messages API. It
/// is a cheap handle: clones share the connections, the
/// [`RetryBudget`](llmnode_model::RetryBudget), and what was learned about models.
///
/// What a model thinks goes back to it with the calls of tools, signed as it came.
/// Types are asked for by `output_config.format`, else by a tool that the model has
/// to call, else in the prompt.
///
/// ```no_run
/// # mod llmnode { pub use llmnode_model::*; pub use llmnode_http::*; }
/// use llmnode::Anthropic;
///
/// # fn main() -> Result<(), llmnode_model::ModelError> {
/// let model = Anthropic::from_env()?; // ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL
/// # let _ = model;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Anthropic(Arc<Inner>);

chat_model!(Anthropic);

/// What differs between APIs, as data. The comments of `Wire` say what each field
/// decides.
const MESSAGES: Wire = Wire {
    name: llmnode_model::ApiKind::Anthropic,
    provider: "anthropic",
    tag: "anthropic",
    title: "Anthropic",
    handle: "Anthropic",
    key_header: "x-api-key",
    key: "ANTHROPIC_API_KEY",
    other_key: Some(("ANTHROPIC_AUTH_TOKEN", "authorization")),
    base_url: "ANTHROPIC_BASE_URL",
    model: "ANTHROPIC_MODEL",
    api: ApiPath {
        path: "/v1/messages",
        example: "https://api.anthropic.com",
    },
    // Members that only we write: in `extra` they are refused.
    reserved_fields: &["messages", "model", "stream", "system"],
    // Members that the program may add to.
    joined: &["output_config", "tools"],
    names: Some(Profile::Anthropic),
    formats: Formats {
        // From the surest to the one that every model understands.
        order: &[
            ResponseFormat::Strict,
            ResponseFormat::Tool,
            ResponseFormat::Prompt,
        ],
        expresses: |schema| schema.anthropic().is_some(),
    },
    efforts: Efforts {
        // Not thinking is asked for in three ways, from the newest models back:
        // some refuse to be switched off and think less between tools, or with low
        // effort.
        off: &[
            Thinking::Budget(0),
            Thinking::BetweenTools,
            Thinking::Effort(Effort::Low),
        ],
        words: &[
            Effort::Max,
            Effort::XHigh,
            Effort::High,
            Effort::Medium,
            Effort::Low,
        ],
        // Up to Haiku 4.5 and Sonnet 4.5, thoughts have budgets of tokens and no
        // efforts.
        budgets: true,
        field: ("thinking", ""),
    },
    url: None,
    hosts: &["api.anthropic.com"],
    limit: Some(request::limit),
    id_form: IdForm::Word,
    encode: request::encode,
    read: answer::read,
    stream: || Box::<stream::PartialMessage>::default(),
};
