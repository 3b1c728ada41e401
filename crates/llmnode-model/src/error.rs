//! Why a model returned no answer.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use llmnode_reader::text::visible;

use crate::category::{Category, Group};
use crate::message::Message;
use crate::usage::TokenUsage;

/// What follows a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// Nothing.
    No,
    /// The same request, after a wait. It counts against `transport_retries`.
    Transport,
    /// A correction. It counts against `retries`.
    Feedback,
    /// An adapted request, at once, since the model's handle learned from the
    /// refusal. It counts against nothing, and is allowed a few times a call.
    Adapted,
}

impl Retry {
    /// Returns what follows a category by default.
    pub fn by_default(category: Category) -> Retry {
        match category.group() {
            Group::Answer => Retry::Feedback,
            Group::Transport => Retry::Transport,
            Group::Final | Group::Node | Group::Stop => Retry::No,
        }
    }
}

/// Why a model returned no answer.
///
/// ```
/// use std::time::Duration;
/// # use llmnode_model as llmnode;
/// use llmnode::{Category, ModelError};
///
/// let error = ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(20));
/// assert_eq!(error.to_string(), "rate_limit_error: slow down");
/// ```
#[non_exhaustive]
pub struct ModelError {
    /// The category.
    pub category: Category,
    /// What happened and what to do. It never contains a key or the raw answer.
    pub message: String,
    /// What follows this failure, if not its category's default.
    pub retry: Option<Retry>,
    /// The wait that the server asks for.
    pub retry_after: Option<Duration>,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// The tokens that were used anyway, as the provider reports them.
    pub usage: Option<Box<TokenUsage>>,
    /// About how many tokens of an answer had come before it failed. `None`: none
    /// had, as far as is known.
    pub answered: Option<u32>,
    /// Whether the provider refused the request for what stands in a field of it,
    /// and so before the model read it.
    pub names_a_field: bool,
    /// Whether a request was begun. Only then does the ledger have an entry.
    pub sent: bool,
    /// Whether the request may have reached the server. `false`: no connection was
    /// made, so there was no request: see `AttemptRecord::unsent`.
    pub reached: bool,
    /// The source of the error.
    pub source: Option<Box<dyn Error + Send + Sync>>,
    /// The bad answer, with what the provider put beside it, for a correction that
    /// shows it to the model.
    pub answer: Option<Box<Message>>,
}

impl ModelError {
    /// Creates a failure of a request that was begun.
    pub fn new(category: Category, message: impl Into<String>) -> Self {
        ModelError {
            category,
            message: message.into(),
            retry: None,
            retry_after: None,
            status: None,
            request_id: None,
            usage: None,
            answered: None,
            names_a_field: false,
            sent: true,
            reached: true,
            source: None,
            answer: None,
        }
    }

    /// Creates a failure that prevented the request, such as a missing key.
    pub fn unsent(category: Category, message: impl Into<String>) -> Self {
        ModelError {
            sent: false,
            ..ModelError::unreached(category, message)
        }
    }

    /// Creates a failure of a request that never reached the server.
    pub fn unreached(category: Category, message: impl Into<String>) -> Self {
        ModelError {
            reached: false,
            ..ModelError::new(category, message)
        }
    }

    /// A request that never reached the server used no tokens, nor did one that
    /// failed in a category that counts none before the model began to answer.
    pub fn may_have_used_tokens(&self) -> bool {
        let has_begun = self.usage.is_some() || self.answered.is_some();
        self.reached && (has_begun || !self.category.counts_no_tokens())
    }

    /// About how many tokens of an answer had come.
    pub fn answered(&self) -> Option<u64> {
        self.answered.map(u64::from)
    }

    /// Sets about how many tokens of an answer had come.
    pub fn set_answered(&mut self, tokens: Option<u64>) {
        self.answered = tokens.map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX));
    }

    /// Providers bill no request that they refuse for its key, its quota, its rate,
    /// its model or one of its fields, unless they report usage. What a filter or a
    /// model has read may be billed, and so may what failed on the way.
    pub fn costs_nothing(&self) -> bool {
        let has_begun = self.usage.is_some() || self.answered.is_some();
        let refused = match self.category {
            Category::ApiKeyError
            | Category::QuotaError
            | Category::NotFound
            | Category::RateLimitError => true,
            Category::BadRequest => self.names_a_field,
            _ => false,
        };
        // Some servers answer a 200 with an error in it, or a 5xx with such a code.
        refused
            && self.reached
            && !has_begun
            && self
                .status
                .is_none_or(|status| (400..500).contains(&status))
    }

    /// Sets what follows this failure.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Sets the wait that the server asks for.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.category, visible(&self.message))
    }
}

impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ModelError({self}; status {:?}, retry {:?})",
            self.status, self.retry
        )
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out() {
        let error = ModelError::new(Category::ServerError, "it says \u{202e}yas\u{2069}\u{200b}");
        assert_eq!(
            error.to_string(),
            "server_error: it says \\u202eyas\\u2069\\u200b"
        );
        assert!(!format!("{error:?}").contains('\u{202e}'));
    }
}
