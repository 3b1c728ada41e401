//! What a node writes to the state.

use std::fmt;

use llmnode_runtime::Message;
use serde_json::Value;

/// What a node of a graph writes to the state, and which handle it takes. The graph applies it with the reducers of its file.
#[derive(Clone, Default, PartialEq)]
pub struct Update {
    pub(crate) messages: Vec<Message>,
    pub(crate) values: Vec<(String, Value)>,
    pub(crate) cleared: Vec<String>,
    pub(crate) action: Option<String>,
    pub(crate) untrusted: bool,
}

impl Update {
    /// Creates an update that writes nothing and takes the handle `default`.
    pub fn new() -> Self {
        Update::default()
    }

    /// Adds a message. A message with the role assistant is the node's own: other agents see it as a user message, under the node's
    /// name and in a fence. A message with the role user is shown to all as it is: put text that other people wrote into a fence.
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

    pub(crate) fn saving(self, key: Option<&String>, value: impl FnOnce() -> Value) -> Self {
        match key {
            Some(key) => self.with_value(key, value()),
            None => self,
        }
    }

    /// Removes a value.
    #[must_use]
    pub fn clearing(mut self, key: impl Into<String>) -> Self {
        self.cleared.push(key.into());
        self
    }

    /// Sets the handle that the graph takes next. Default: `default`.
    #[must_use]
    pub fn with_action(mut self, handle: impl Into<String>) -> Self {
        self.action = Some(handle.into());
        self
    }
}

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
