//! The answer of a model.

use std::fmt;
use std::sync::Arc;

use super::answer_limit::AnswerLimit;
use super::provider_state::ProviderState;
use super::tool::ToolCall;
use crate::usage::TokenUsage;

/// Why an answer ended. An unknown word of a provider is kept, and the attempt has the
/// flag `unknown_finish`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// A length limit cut the answer.
    Length,
    /// The provider's filter cut the answer.
    ContentFilter,
    /// The provider failed while it answered.
    Error,
    /// The provider paused a long turn: it continues when the conversation with
    /// this answer is sent back.
    Continue,
    /// Anything else, in the provider's words.
    Other(String),
}

impl FinishReason {
    /// Returns the word of OpenAI's API, or the provider's own.
    pub fn as_str(&self) -> &str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Error => "error",
            FinishReason::Continue => "pause_turn",
            FinishReason::Other(word) => word,
        }
    }
}

/// One answer of a model. Its `Debug` form shows no content.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Completion {
    /// The text of the answer. May be empty.
    pub text: String,
    /// The tools that the model calls, in the model's order. If there are any,
    /// `text` is not the answer.
    pub calls: Vec<ToolCall>,
    /// What the provider put beside text and calls. It belongs into the
    /// [message](crate::Message::carrying) of this answer.
    pub carried: Option<Arc<ProviderState>>,
    /// The model's thoughts, as far as the provider shows them.
    pub reasoning: Option<String>,
    /// The model's refusal, if it declined to answer.
    pub refusal: Option<String>,
    /// Why the answer ended. `None`: the provider did not say.
    pub finish: Option<FinishReason>,
    /// The limit that cut the answer, as far as the model's handle knows it.
    pub limit: Option<AnswerLimit>,
    /// The tokens, as the provider reports them. `None`: it does not.
    pub usage: Option<TokenUsage>,
    /// The model that answered, as the provider names it.
    pub model: Option<String>,
    /// What the provider calls the request in its own logs. Its support asks for it.
    pub request_id: Option<String>,
    /// The provider's id of the answer, if it has one of its own.
    pub response_id: Option<String>,
}

impl Completion {
    /// Creates a complete answer.
    pub fn new(text: impl Into<String>) -> Self {
        Completion {
            text: text.into(),
            finish: Some(FinishReason::Stop),
            ..Completion::default()
        }
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion")
            .field("text", &format_args!("{} bytes", self.text.len()))
            .field("calls", &self.calls)
            .field("carried", &self.carried)
            .field(
                "reasoning",
                &format_args!("{} bytes", self.reasoning.as_ref().map_or(0, String::len)),
            )
            .field("refusal", &self.refusal.is_some())
            .field("finish", &self.finish)
            .field("usage", &self.usage)
            .field("model", &self.model)
            .field("request_id", &self.request_id)
            .field("response_id", &self.response_id)
            .finish()
    }
}
