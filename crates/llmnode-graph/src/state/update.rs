//! What a node writes to the state.

use std::fmt;

use llmnode_runtime::Message;
use serde_json::Value;

/// What a node of a graph writes to the state, and which way it takes. The graph applies it by the reducers of its file.
#[derive(Clone, Default, PartialEq)]
pub struct Update {
    pub(crate) messages: Vec<Message>,
    pub(crate) values: Vec<(String, Value)>,
    pub(crate) cleared: Vec<String>,
    pub(crate) action: Option<String>,
}

impl Update {
    /// Creates an update that writes nothing and goes on.
    pub fn new() -> Self {
        Update::default()
    }

    /// Adds a message. One of the role assistant is the node's own: other agents see it as a message of the user, under the node's
    /// name and in a fence. One of the role user is shown to all as it is: fence what is not yours.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Writes a value.
    #[must_use]
    pub fn with_value(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.values.push((key.into(), value.into()));
        self
    }

    /// Removes a value.
    #[must_use]
    pub fn clearing(mut self, key: impl Into<String>) -> Self {
        self.cleared.push(key.into());
        self
    }

    /// Sets the handle that the graph goes on by. Default: `default`.
    #[must_use]
    pub fn with_action(mut self, handle: impl Into<String>) -> Self {
        self.action = Some(handle.into());
        self
    }
}

/// Shows no content.
impl fmt::Debug for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.values.iter().map(|(key, _)| key).collect();
        f.debug_struct("Update")
            .field("messages", &self.messages.len())
            .field("values", &keys)
            .field("cleared", &self.cleared)
            .field("action", &self.action)
            .finish()
    }
}
