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
    /// The id of the call, unique in its conversation: the provider's, or one of
    /// our own if the provider gave none or gave it twice.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text. Empty: the model wrote none.
    pub arguments: String,
    /// The arguments of the call of `call_tool` that the model wrote, if it called
    /// the tool by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
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
            through: None,
        }
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ToolCall {
            id,
            name,
            arguments,
            ..
        } = self;
        write!(
            f,
            "ToolCall {{ id: {id:?}, name: {name:?}, arguments: {} bytes }}",
            arguments.len()
        )
    }
}

/// The tool that finds others, where the provider does not do it.
pub const SEARCH_TOOLS: &str = "search_tools";

/// The tool that calls those that are not listed.
pub const CALL_TOOL: &str = "call_tool";

/// What a search for tools has found. It is kept in the conversation, so that no
/// tool is searched for again where the conversation goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoundTools {
    /// The names of the tools, best first. None: nothing fits.
    pub names: Vec<String>,
    /// How the model is to call them.
    pub way: FoundWay,
}

/// How a model calls tools that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundWay {
    /// They are listed in all requests that follow.
    Listed,
    /// Their schemas stand in the result, and one tool that is always listed calls them.
    Shown,
    /// The provider has all tools, and searches them itself. Their schemas stand in the result.
    Native,
}

/// A tool as the model sees it.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolSpec {
    /// Its name. Providers take 1 to 64 characters of `a-z A-Z 0-9 _ -`.
    pub name: Cow<'static, str>,
    /// All that the model knows of it when it chooses a tool, beside the name and the schema.
    pub description: Cow<'static, str>,
    /// The schema of its arguments.
    pub schema: Arc<OutputSchema>,
    /// No other tool runs at the same time.
    pub alone: bool,
    /// The program gives its results.
    pub external: bool,
    /// It must not be executed twice.
    pub at_most_once: bool,
    /// A person approves its calls first.
    pub needs_approval: bool,
    /// It is listed only when it is found.
    pub deferred: bool,
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
            deferred: false,
        }
    }

    /// What it belongs to: what its name begins with, up to the first mark that
    /// separates words. The names of tools of MCP servers begin with the server's
    /// name.
    pub fn group(&self) -> &str {
        let name = &*self.name;
        name.split(['_', '-']).next().unwrap_or(name)
    }
}

impl fmt::Debug for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolSpec").field(&self.name).finish()
    }
}
