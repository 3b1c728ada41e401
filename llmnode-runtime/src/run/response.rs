//! A response of a model, between what its provider sent and what follows from it.

use std::sync::Arc;

use llmnode_model::ext::{AnswerLimit, PADDING};
use llmnode_model::{FinishReason, ProviderState, TokenUsage};
use llmnode_reader::{Flag, Violation};

use super::failure::Failure;
use super::tools::Round;

/// What a model answered: a text, or calls of tools. Empty if its provider failed.
#[derive(Default)]
pub(super) struct Response {
    pub(super) text: String,
    /// What the provider put beside the text, and wants back with it.
    pub(super) carried: Option<Arc<ProviderState>>,
    /// Calls of tools, or a turn that the provider paused. The text is no answer then.
    pub(super) round: Option<Box<Round>>,
    /// The limit of the answer's length, as far as the model's handle knows it.
    pub(super) limit: Option<AnswerLimit>,
    /// The model was stopped at that limit.
    pub(super) was_stopped: bool,
    /// White space, in bytes, that was written up to that limit after a complete document.
    pub(super) padding: usize,
    /// The provider failed, and there is no response.
    pub(super) is_missing: bool,
}

impl Response {
    pub(super) fn missing() -> Self {
        Response {
            is_missing: true,
            ..Response::default()
        }
    }

    /// Whether more may have followed. With less padding, further objects may stand
    /// on lines of their own.
    pub(super) fn is_cut(&self) -> bool {
        self.was_stopped && self.padding < PADDING
    }

    /// Whether the text is the answer, or would be if it were good.
    pub(super) fn is_answer(&self) -> bool {
        self.round.is_none() && !self.is_missing
    }
}

/// How the provider says that a response ended.
#[derive(Default)]
pub(super) struct Ended {
    pub(super) finish: Option<FinishReason>,
    /// The model's words, if it declined to answer.
    pub(super) refusal: Option<String>,
    pub(super) usage: Option<TokenUsage>,
}

/// What a response was found to be.
pub(super) enum Judgement {
    /// Its tools are called, or the turn goes on: there is nothing to validate.
    Turn,
    /// A good answer. The node keeps the value.
    Valid(Validated),
    /// An answer that was read or validated, and is not good.
    Rejected(Failure),
    /// No answer to validate: the provider failed, or the response is of no use.
    Failed(Failure),
}

/// What is worth knowing about a good answer.
pub(super) struct Validated {
    pub(super) flags: Vec<Flag>,
    pub(super) warnings: Vec<Violation>,
}

impl Judgement {
    pub(super) fn failure(&self) -> Option<&Failure> {
        match self {
            Judgement::Rejected(failure) | Judgement::Failed(failure) => Some(failure),
            Judgement::Turn | Judgement::Valid(_) => None,
        }
    }

    pub(super) fn failure_mut(&mut self) -> Option<&mut Failure> {
        match self {
            Judgement::Rejected(failure) | Judgement::Failed(failure) => Some(failure),
            Judgement::Turn | Judgement::Valid(_) => None,
        }
    }

    /// Why the answer was not good, if there was one that was validated.
    pub(super) fn rejection(&self) -> Option<&Failure> {
        match self {
            Judgement::Rejected(failure) => Some(failure),
            _ => None,
        }
    }
}
