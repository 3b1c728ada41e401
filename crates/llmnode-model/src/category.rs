//! The categories of failures, whose names stay stable across releases.

use std::fmt;

macro_rules! categories {
    ($($group:ident { $($(#[$about:meta])* $category:ident = $name:literal,)* })*) => {
        /// The category of a failure. Its name is stable, and it selects what follows.
        ///
        /// ```
        /// # use llmnode_model as llmnode;
        /// use llmnode::{Category, Group};
        ///
        /// assert_eq!(Category::RateLimitError.as_str(), "rate_limit_error");
        /// assert_eq!(Category::RateLimitError.group(), Group::Transport);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Category {
            $($($(#[$about])* $category,)*)*
        }

        impl Category {
            /// All categories, by group.
            pub const ALL: &'static [Category] = &[$($(Category::$category,)*)*];

            /// Returns the stable name, such as `"rate_limit_error"`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(Category::$category => $name,)*)*
                }
            }

            /// Returns the group of the category.
            pub const fn group(self) -> Group {
                match self {
                    $($(Category::$category => Group::$group,)*)*
                }
            }
        }
    };
}

categories! {
    Answer {
        /// The answer is not of the output type.
        SchemaError = "schema_error",
        /// A validator rejected the answer.
        ValidationError = "validation_error",
        /// The answer is empty.
        EmptyResponse = "empty_response",
    }
    Transport {
        /// The provider asks for fewer requests.
        RateLimitError = "rate_limit_error",
        /// The provider failed, or is overloaded.
        ServerError = "server_error",
        /// The connection failed or broke.
        Network = "network",
        /// No answer came in time: the deadline or the timeout of an attempt
        /// passed, or a server says so.
        Timeout = "timeout",
    }
    Final {
        /// The key is missing, malformed, unknown or not allowed to do this.
        ApiKeyError = "api_key_error",
        /// The account has no credit or quota left; waiting does not help.
        QuotaError = "quota_error",
        /// No such model or path.
        NotFound = "not_found",
        /// The provider refuses the request as it is.
        BadRequest = "bad_request",
        /// The prompt does not fit into the model's window.
        ContextLengthError = "context_length_error",
        /// The provider's filter withheld the prompt or the answer.
        ContentFilter = "content_filter",
        /// The model declined to answer.
        Refusal = "refusal",
        /// The answer stopped at a length limit.
        TruncatedOutput = "truncated_output",
        /// The response is no answer of a model at all, such as a web page.
        BadResponse = "bad_response",
    }
    Node {
        /// A node without a model failed with an error of its own.
        ExecError = "exec_error",
    }
    Stop {
        /// A limit of the program leaves no room for the request.
        LimitExceeded = "limit_exceeded",
        /// A limit cannot be checked, since usage or price is unknown.
        LimitUnenforceable = "limit_unenforceable",
        /// The call was dropped before it ended.
        Cancelled = "cancelled",
        /// Code of the program panicked. The panic was caught.
        Panic = "panic",
        /// A validator, or a step's `post`, failed with an error of the program.
        Aborted = "aborted",
        /// The node or its prompt could not be made.
        PrepError = "prep_error",
        /// The program asked for something impossible. The message says what to change.
        ConfigError = "config_error",
        /// Calls of tools wait for an approval, or for a result from outside.
        Paused = "paused",
        /// Another call has the conversation, or calls of it wait for a decision.
        /// Nothing was asked, unless the message says it.
        Conflict = "conflict",
    }
}

impl Category {
    /// A provider that answers so, and before anything of an answer, counts no
    /// tokens, unless it reports some. A filter and a model that declines have read
    /// the prompt.
    pub const fn counts_no_tokens(self) -> bool {
        match self {
            Category::TruncatedOutput | Category::BadResponse => false,
            Category::ContentFilter | Category::Refusal => false,
            Category::RateLimitError | Category::ServerError => true,
            _ => matches!(self.group(), Group::Final),
        }
    }
}

/// A group of categories, by what can follow.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::{Category, Group};
///
/// /// Whether the same request may succeed later.
/// fn may_succeed_later(category: Category) -> bool {
///     category.group() == Group::Transport
/// }
///
/// assert!(may_succeed_later(Category::Network));
/// assert!(!may_succeed_later(Category::ApiKeyError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// The model's answer is bad. The model can correct it.
    Answer,
    /// The way to the model failed. The same request may succeed later.
    Transport,
    /// The same request would fail again. Only fallbacks help.
    Final,
    /// The execution of a node without a model failed. It is repeated as `attempts` says.
    Node,
    /// The program itself ended the call.
    Stop,
}

impl Category {
    /// Returns the category with this name.
    pub fn from_name(name: &str) -> Option<Category> {
        Category::ALL
            .iter()
            .copied()
            .find(|category| category.as_str() == name)
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
        Category::from_name(&name)
            .ok_or_else(|| serde::de::Error::invalid_value(unexpected, &"a category"))
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
