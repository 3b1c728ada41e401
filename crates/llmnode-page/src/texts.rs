//! The texts of a recording: without secrets, cut, and within its memory.

use std::hash::{DefaultHasher, Hash, Hasher};

use llmnode_model::internal::Redactor;
use llmnode_runtime::{Message, Request, Role, ToolCall, ToolSpec};
use serde::Serialize;

use crate::document::{Offered, OfferedTool, Text, ToolText};

/// The most of one text, in bytes.
const LONGEST: usize = 64 * 1024;

/// The memory of all texts and entries, in bytes.
pub(crate) const MEMORY: usize = 64 * 1024 * 1024;

pub(crate) struct Texts {
    pub(crate) redactor: Redactor,
    /// Used so far.
    pub(crate) bytes: usize,
}

impl Texts {
    pub(crate) fn keep(&mut self, text: &str) -> String {
        let mut kept = self.redactor.text(text);
        let length = kept.len();
        if length > LONGEST {
            let end = (0..=LONGEST).rev().find(|end| kept.is_char_boundary(*end)).unwrap_or(0);
            kept.truncate(end);
            kept.push_str(&format!("\n[{} more bytes]", length - end));
        }
        self.bytes += kept.len();
        kept
    }

    pub(crate) fn message(&mut self, message: &Message) -> Text {
        let mut text = message.shown();
        for ToolCall { name, arguments, .. } in message.calls() {
            text.push_str(&format!("{}calls {name} {arguments}", if text.is_empty() { "" } else { "\n" }));
        }
        Text { role: role(message).to_owned(), text: self.keep(&text) }
    }

    pub(crate) fn offered(&mut self, request: &Request) -> Offered {
        let Request { output, tools, .. } = request;
        let schema = output.as_ref().map(|schema| self.keep(schema.plain().get()));
        let tool = |ToolSpec { name, description, schema, .. }: &ToolSpec| OfferedTool {
            name: self.keep(name),
            description: self.keep(description),
            schema: self.keep(schema.plain().get()),
        };
        Offered { schema, tools: tools.iter().map(tool).collect() }
    }

    /// In words.
    pub(crate) fn settings(&mut self, request: &Request) -> Vec<String> {
        let Request { temperature, max_tokens, reasoning, extra, .. } = request;
        let temperature = temperature.map(|number| format!("temperature {number}"));
        let tokens = max_tokens.map(|number| format!("at most {number} tokens"));
        let reasoning = reasoning.as_ref().map(|reasoning| format!("reasoning {}", words(reasoning)));
        let extra = extra.iter().map(|(name, value)| format!("{name} {value}"));
        let all = [temperature, tokens, reasoning].into_iter().flatten().chain(extra);
        all.map(|setting| self.keep(&setting)).collect()
    }

    pub(crate) fn tool(&mut self, call: &ToolCall) -> ToolText {
        let ToolCall { id, name, arguments, .. } = call;
        let (name, arguments) = (self.keep(name), self.keep(arguments));
        ToolText { id: id.clone(), name, arguments, edited: None, result: None }
    }
}

/// The word for who wrote a message.
pub fn role(message: &Message) -> &'static str {
    match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool if message.is_failure() => "tool failure",
        Role::Tool => "tool result",
        _ => "message",
    }
}

fn words(reasoning: &impl Serialize) -> String {
    let json = serde_json::to_value(reasoning).unwrap_or_default();
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// Distinguishes messages of one conversation.
pub(crate) fn fingerprint(message: &Message) -> u64 {
    let mut hasher = DefaultHasher::new();
    (role(message), message.shown(), message.answers()).hash(&mut hasher);
    for ToolCall { id, name, arguments, .. } in message.calls() {
        (id, name, arguments).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let mut texts = Texts { redactor: Redactor::default(), bytes: 0 };
        let kept = texts.keep(&("a".to_owned() + &"ä".repeat(LONGEST)));
        assert_eq!(kept.len(), texts.bytes);
        assert!(kept.ends_with(&format!("ä\n[{} more bytes]", LONGEST + 2)), "{}", &kept[LONGEST..]);
    }
}
