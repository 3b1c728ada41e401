//! Why a model gave no answer.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::category::{Category, Group};
use crate::usage::TokenUsage;

/// Whether and how a failed attempt is followed by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// It is not.
    No,
    /// The same request again, after a wait; counts against `transport_retries`.
    Transport,
    /// The model is told what was wrong; counts against `retries`.
    Feedback,
    /// The model's handle learned from the refusal and will ask differently: again at once, counted against
    /// nothing. The loop allows it a few times a call.
    Adapted,
}

impl Retry {
    /// What a category calls for, where the failure itself does not say otherwise.
    pub fn by_default(category: Category) -> Retry {
        match category.group() {
            Group::Answer => Retry::Feedback,
            Group::Transport => Retry::Transport,
            Group::Final | Group::Node | Group::Stop => Retry::No,
        }
    }
}

/// Why a model gave no answer.
///
/// ```
/// use std::time::Duration;
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, ModelError};
///
/// let error = ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(20));
/// assert_eq!(error.to_string(), "rate_limit_error: slow down");
/// ```
#[non_exhaustive]
pub struct ModelError {
    /// What went wrong.
    pub category: Category,
    /// What happened, where, and what to do; never a key, never the raw answer.
    pub message: String,
    /// What this failure calls for, where it differs from its category's default.
    pub retry: Option<Retry>,
    /// The wait that the server asks for.
    pub retry_after: Option<Duration>,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// The provider's id of the request.
    pub request_id: Option<String>,
    /// Tokens that were used all the same, as the provider reports them.
    pub usage: Option<TokenUsage>,
    /// Whether a request was begun. Only then has the ledger an entry.
    pub sent: bool,
    /// Whether the request may have reached the server; `false` if no connection came about, so that nothing can
    /// have been used.
    pub reached: bool,
    /// The error beneath.
    pub source: Option<Box<dyn Error + Send + Sync>>,
    /// The answer, where it is the answer that is at fault: the model is shown it, and the message.
    #[doc(hidden)]
    pub answer: Option<String>,
}

impl ModelError {
    /// A failure of a request that was begun.
    pub fn new(category: Category, message: impl Into<String>) -> Self {
        ModelError {
            category,
            message: message.into(),
            retry: None,
            retry_after: None,
            status: None,
            request_id: None,
            usage: None,
            sent: true,
            reached: true,
            source: None,
            answer: None,
        }
    }

    /// A fault that kept the request from being made, such as a missing key.
    pub fn unsent(category: Category, message: impl Into<String>) -> Self {
        ModelError { sent: false, ..ModelError::unreached(category, message) }
    }

    /// A failure of a request that was begun, and never reached the server.
    pub fn unreached(category: Category, message: impl Into<String>) -> Self {
        ModelError { reached: false, ..ModelError::new(category, message) }
    }

    /// Whether tokens may have been used of which nobody told. A request that never reached the server used none,
    /// and an error of the provider itself says nothing of tokens where it counted none.
    pub(crate) fn may_have_used_tokens(&self) -> bool {
        let whole = match self.category {
            Category::TruncatedOutput | Category::BadResponse => false,
            Category::RateLimitError | Category::ServerError => true,
            category => category.group() == Group::Final,
        };
        self.reached && !whole
    }

    /// Says what this failure calls for.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Says how long the server asks to wait.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.category, self.message)
    }
}

impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelError({self}; status {:?}, retry {:?})", self.status, self.retry)
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
