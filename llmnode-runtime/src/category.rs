//! What went wrong, in words that stay stable across releases.

use std::fmt;

/// The category of a failure: its name is stable, and the loop's decisions hang on it.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, Group};
///
/// assert_eq!(Category::RateLimitError.as_str(), "rate_limit_error");
/// assert_eq!(Category::RateLimitError.group(), Group::Transport);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Category {
    /// The answer could not be read as the output type.
    SchemaError,
    /// The answer was read, and a validator rejected it.
    ValidationError,
    /// The model answered with nothing.
    EmptyResponse,
    /// The provider asks to slow down.
    RateLimitError,
    /// The provider failed, or is overloaded.
    ServerError,
    /// The connection failed or broke.
    Network,
    /// No answer in time.
    Timeout,
    /// The key is missing, malformed, unknown or not allowed to do this.
    ApiKeyError,
    /// The account has no credit or quota left; waiting does not help.
    QuotaError,
    /// No such model or path.
    NotFound,
    /// The provider refuses the request as it is.
    BadRequest,
    /// The prompt does not fit into the model's window.
    ContextLengthError,
    /// The provider's filter withheld the prompt or the answer.
    ContentFilter,
    /// The model declined to answer.
    Refusal,
    /// The answer stopped at a length limit.
    TruncatedOutput,
    /// What came back is no answer of a model at all.
    BadResponse,
    /// A node that asks no model itself failed with an error of its own.
    ExecError,
    /// A limit set by the program would be crossed.
    LimitExceeded,
    /// A limit cannot be checked, since usage is unknown.
    LimitUnenforceable,
    /// The call was dropped before it ended.
    Cancelled,
    /// Code of the program panicked; the panic was caught.
    Panic,
    /// A validator, or a step's `post`, failed with an error of the program.
    Aborted,
    /// The node could not be prepared, or its prompt.
    PrepError,
    /// The program asked for something impossible.
    ConfigError,
}

/// What a category calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// The model's answer is bad: it can be asked to correct it.
    Answer,
    /// The way to the model failed: the same request may succeed later.
    Transport,
    /// The same request would fail again.
    Final,
    /// The execution of a node that asks no model itself failed: it is executed again as often as `attempts` says.
    Node,
    /// The program itself ended the call.
    Stop,
}

impl Category {
    /// Every category, in the order of the documentation.
    pub const ALL: &'static [Category] = &[
        Category::SchemaError,
        Category::ValidationError,
        Category::EmptyResponse,
        Category::RateLimitError,
        Category::ServerError,
        Category::Network,
        Category::Timeout,
        Category::ApiKeyError,
        Category::QuotaError,
        Category::NotFound,
        Category::BadRequest,
        Category::ContextLengthError,
        Category::ContentFilter,
        Category::Refusal,
        Category::TruncatedOutput,
        Category::BadResponse,
        Category::ExecError,
        Category::LimitExceeded,
        Category::LimitUnenforceable,
        Category::Cancelled,
        Category::Panic,
        Category::Aborted,
        Category::PrepError,
        Category::ConfigError,
    ];

    /// The stable name, such as `"rate_limit_error"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Category::SchemaError => "schema_error",
            Category::ValidationError => "validation_error",
            Category::EmptyResponse => "empty_response",
            Category::RateLimitError => "rate_limit_error",
            Category::ServerError => "server_error",
            Category::Network => "network",
            Category::Timeout => "timeout",
            Category::ApiKeyError => "api_key_error",
            Category::QuotaError => "quota_error",
            Category::NotFound => "not_found",
            Category::BadRequest => "bad_request",
            Category::ContextLengthError => "context_length_error",
            Category::ContentFilter => "content_filter",
            Category::Refusal => "refusal",
            Category::TruncatedOutput => "truncated_output",
            Category::BadResponse => "bad_response",
            Category::ExecError => "exec_error",
            Category::LimitExceeded => "limit_exceeded",
            Category::LimitUnenforceable => "limit_unenforceable",
            Category::Cancelled => "cancelled",
            Category::Panic => "panic",
            Category::Aborted => "aborted",
            Category::PrepError => "prep_error",
            Category::ConfigError => "config_error",
        }
    }

    /// The category of that stable name, if there is one.
    pub fn from_name(name: &str) -> Option<Category> {
        Category::ALL.iter().copied().find(|category| category.as_str() == name)
    }

    /// What the category calls for.
    pub const fn group(self) -> Group {
        match self {
            Category::SchemaError | Category::ValidationError | Category::EmptyResponse => Group::Answer,
            Category::RateLimitError | Category::ServerError | Category::Network | Category::Timeout => {
                Group::Transport
            }
            Category::ApiKeyError
            | Category::QuotaError
            | Category::NotFound
            | Category::BadRequest
            | Category::ContextLengthError
            | Category::ContentFilter
            | Category::Refusal
            | Category::TruncatedOutput
            | Category::BadResponse => Group::Final,
            Category::ExecError => Group::Node,
            Category::LimitExceeded
            | Category::LimitUnenforceable
            | Category::Cancelled
            | Category::Panic
            | Category::Aborted
            | Category::PrepError
            | Category::ConfigError => Group::Stop,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl serde::Serialize for Category {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Category {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let unexpected = serde::de::Unexpected::Str(&name);
        Category::from_name(&name).ok_or_else(|| serde::de::Error::invalid_value(unexpected, &"a category"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_read_back() {
        for &category in Category::ALL {
            assert_eq!(Category::from_name(category.as_str()), Some(category));
        }
        assert_eq!(Category::from_name("no_such"), None);
    }
}
