//! Tools as a model sees them, and the calls that it makes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use llmnode_reader::OutputSchema;
use serde::{Deserialize, Serialize};

/// One call of a tool, as the model wrote it. Its `Debug` form does not show the arguments.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id of the call, unique in its conversation: the provider's, or one of our own if the provider gave none or gave it
    /// twice.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text. Empty: the model wrote none.
    pub arguments: String,
}

impl ToolCall {
    /// Creates a call.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ToolCall {
            id,
            name,
            arguments,
        } = self;
        write!(
            f,
            "ToolCall {{ id: {id:?}, name: {name:?}, arguments: {} bytes }}",
            arguments.len()
        )
    }
}

/// A tool as the model sees it.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name. Providers take 1 to 64 characters of `a-z A-Z 0-9 _ -`.
    pub name: Cow<'static, str>,
    /// What it does.
    pub description: Cow<'static, str>,
    /// The schema of its arguments.
    pub schema: Arc<OutputSchema>,
    /// No other tool runs at the same time.
    #[doc(hidden)]
    pub alone: bool,
    /// The program gives its results.
    #[doc(hidden)]
    pub external: bool,
    /// It must not be executed twice.
    #[doc(hidden)]
    pub at_most_once: bool,
    /// A person approves its calls first.
    #[doc(hidden)]
    pub needs_approval: bool,
}

impl ToolSpec {
    /// Creates a tool.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        schema: Arc<OutputSchema>,
    ) -> Self {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            schema,
            alone: false,
            external: false,
            at_most_once: false,
            needs_approval: false,
        }
    }
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSpec").field(&self.name).finish()
    }
}
