//! The parts of a prompt by their hashes: whether a request begins as the one before it did.
//!
//! A provider keeps the beginning of a prompt, in its own order: tools, the format
//! of the answer, the system's text, messages. So the first part that differs tells
//! who broke it. Hashes have 32 bits, so that every reader of JSON keeps them
//! exactly; no text of a prompt is kept, but the names of tools.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::api_kind::ApiKind;

/// What one request was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptParts {
    /// The API that it was written for.
    pub api: ApiKind,
    /// The id of the model.
    pub model: String,
    /// How much the model thinks, and the like.
    pub settings: u32,
    /// In their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolPart>,
    /// The schema of the answer.
    pub format: u32,
    /// The system's text, where it stands apart from the messages.
    pub system: u32,
    /// The parts of messages, one after the other.
    pub messages: Vec<u32>,
    /// Of each of these parts, the number of its message, from 1.
    #[serde(skip)]
    pub numbers: Vec<u32>,
    /// Where the next request can add messages. `None`: nobody knows, as after a restart.
    #[serde(skip)]
    pub frame: Option<PromptFrame>,
}

/// A request's body without marks of the cache: what stands before the place where
/// further messages can be added, and what stands behind it.
///
/// A later request with the same frame is the same request with more messages, so
/// nothing but these has to be read. It counts only within one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptFrame {
    /// How many bytes stand before that place.
    pub begin: usize,
    /// How many stand behind it.
    pub end: usize,
    /// A hash of both.
    pub hash: u64,
    /// How many messages there are.
    pub messages: u32,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolPart {
    /// Its name.
    pub name: String,
    /// The hash of its description.
    pub description: u32,
    /// The hash of all else.
    pub schema: u32,
}

/// The first part of a request that is another than in the request before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptChange {
    /// Another model is asked.
    Model,
    /// Another API is asked by.
    Api,
    /// The model thinks more or less, or calls tools in another way.
    Settings,
    /// A tool is there now.
    ToolAdded(String),
    /// A tool is gone.
    ToolRemoved(String),
    /// The tools have another order.
    ToolOrder,
    /// A tool is described otherwise.
    ToolDescription(String),
    /// A tool has other parameters.
    ToolSchema(String),
    /// The answer has another schema, or is asked for in another way.
    Format,
    /// The system's text.
    System,
    /// A message, by its number from 1.
    Message(u32),
    /// Messages at the end of the request before are gone.
    Shorter,
}

impl fmt::Display for PromptChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PromptChange::Model => f.write_str("the model"),
            PromptChange::Api => f.write_str("the API"),
            PromptChange::Settings => {
                f.write_str("how much the model thinks, or how it calls tools")
            }
            PromptChange::ToolAdded(name) => write!(f, "the tool `{name}`, which is new"),
            PromptChange::ToolRemoved(name) => write!(f, "the tool `{name}`, which is gone"),
            PromptChange::ToolOrder => f.write_str("the order of the tools"),
            PromptChange::ToolDescription(name) => write!(f, "the description of `{name}`"),
            PromptChange::ToolSchema(name) => write!(f, "the parameters of `{name}`"),
            PromptChange::Format => f.write_str("the schema of the answer"),
            PromptChange::System => f.write_str("the system text"),
            PromptChange::Message(number) => write!(f, "message {number}"),
            PromptChange::Shorter => f.write_str("the last messages, which are gone"),
        }
    }
}

impl PromptParts {
    /// The first part of the later request that is another than here. `None`: it
    /// begins with all of this one.
    pub fn first_change(&self, later: &PromptParts) -> Option<PromptChange> {
        if self.model != later.model {
            return Some(PromptChange::Model);
        }
        if self.api != later.api {
            return Some(PromptChange::Api);
        }
        if self.settings != later.settings {
            return Some(PromptChange::Settings);
        }
        self.changed_tool(later)
            .or_else(|| (self.format != later.format).then_some(PromptChange::Format))
            .or_else(|| (self.system != later.system).then_some(PromptChange::System))
            .or_else(|| self.changed_message(later))
    }

    fn changed_tool(&self, later: &PromptParts) -> Option<PromptChange> {
        for tool in &later.tools {
            if !has_tool(&self.tools, &tool.name) {
                return Some(PromptChange::ToolAdded(tool.name.clone()));
            }
        }
        for tool in &self.tools {
            if !has_tool(&later.tools, &tool.name) {
                return Some(PromptChange::ToolRemoved(tool.name.clone()));
            }
        }
        for (before, now) in self.tools.iter().zip(&later.tools) {
            if before.name != now.name {
                return Some(PromptChange::ToolOrder);
            }
            if before.description != now.description {
                return Some(PromptChange::ToolDescription(now.name.clone()));
            }
            if before.schema != now.schema {
                return Some(PromptChange::ToolSchema(now.name.clone()));
            }
        }
        (self.tools.len() != later.tools.len()).then_some(PromptChange::ToolOrder)
    }

    fn changed_message(&self, later: &PromptParts) -> Option<PromptChange> {
        let mut both = self.messages.iter().zip(&later.messages);
        if let Some(at) = both.position(|(before, now)| before != now) {
            let number = later.numbers.get(at).copied().unwrap_or_default();
            // The system's text is a message of some APIs.
            let is_system = number == 1 && self.system == u32::MAX;
            return Some(if is_system {
                PromptChange::System
            } else {
                PromptChange::Message(number)
            });
        }
        (later.messages.len() < self.messages.len()).then_some(PromptChange::Shorter)
    }
}

fn has_tool(tools: &[ToolPart], name: &str) -> bool {
    tools.iter().any(|tool| tool.name == name)
}

/// A request that was answered, as later ones are compared with it. It goes with a
/// conversation, a pause and a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentPrompt {
    /// What it was made of.
    pub parts: PromptParts,
    /// When it was answered, in milliseconds of the machine's clock since 1970.
    pub at: u64,
    /// How long the provider keeps it, in milliseconds. `None`: nothing was asked
    /// for, and nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// Whether the provider has read or written anything of it in its cache.
    /// `None`: it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> PromptParts {
        let tool = |name: &str| ToolPart {
            name: name.to_owned(),
            description: 1,
            schema: 2,
        };
        PromptParts {
            api: ApiKind::Anthropic,
            model: "m".to_owned(),
            settings: 0,
            tools: vec![tool("search"), tool("send")],
            format: 3,
            system: 4,
            messages: vec![5, 6, 7],
            numbers: vec![1, 2, 2],
            frame: None,
        }
    }

    fn changed(change: impl FnOnce(&mut PromptParts)) -> Option<String> {
        let mut later = parts();
        change(&mut later);
        parts()
            .first_change(&later)
            .map(|change| change.to_string())
    }

    #[test]
    fn the_first_part_that_differs_is_named_in_the_providers_order() {
        assert_eq!(changed(|_| {}), None);
        let longer = |later: &mut PromptParts| later.messages.push(8);
        assert_eq!(changed(longer), None);
        let both = |later: &mut PromptParts| {
            later.tools[0].description = 9;
            later.messages[0] = 9;
        };
        assert_eq!(changed(both).unwrap(), "the description of `search`");
        assert_eq!(
            changed(|later| later.tools[1].schema = 9).unwrap(),
            "the parameters of `send`"
        );
        assert_eq!(
            changed(|later| later.tools.swap(0, 1)).unwrap(),
            "the order of the tools"
        );
        let gone = changed(|later| later.tools.truncate(1));
        assert_eq!(gone.unwrap(), "the tool `send`, which is gone");
        assert_eq!(
            changed(|later| later.format = 9).unwrap(),
            "the schema of the answer"
        );
        assert_eq!(
            changed(|later| later.system = 9).unwrap(),
            "the system text"
        );
        assert_eq!(changed(|later| later.messages[2] = 9).unwrap(), "message 2");
        let shorter = changed(|later| later.messages.truncate(2));
        assert_eq!(shorter.unwrap(), "the last messages, which are gone");
    }

    #[test]
    fn a_stored_record_has_no_texts() {
        let sent = SentPrompt {
            parts: parts(),
            at: 7,
            ttl: Some(300_000),
            kept: Some(true),
        };
        let text = serde_json::to_string(&sent).unwrap();
        let read: SentPrompt = serde_json::from_str(&text).unwrap();
        assert_eq!(read.parts.first_change(&sent.parts), None);
    }
}
