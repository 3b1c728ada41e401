//! The texts of a recording: without secrets, cut, and within its memory.
//!
//! Each text is redacted first and cut then: a secret that is cut in its middle would not be recognised any more. The messages of a
//! conversation come again with each request, so they are found again by their hash and redacted once; another redactor forgets them.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use llmnode_model::ext::Redactor;
use llmnode_runtime::{Message, Request, Role, ToolCall, ToolSpec};
use serde::Serialize;

use crate::document::{Offered, OfferedTool, Text, ToolText};

/// The most of one text, in bytes.
const LONGEST: usize = 64 * 1024;

/// The most of an id, in bytes.
const LONGEST_ID: usize = 256;

/// The memory of all texts and entries, in bytes.
pub(crate) const MEMORY: usize = 64 * 1024 * 1024;

/// Of messages that are there to be found again.
const FOUND_AGAIN: usize = 4 * 1024 * 1024;

pub(crate) struct Texts {
    redactor: Redactor,
    /// Used so far.
    pub(crate) bytes: usize,
    /// Messages as they were kept: a loop sends the same ones with each call.
    messages: HashMap<u64, String>,
    messages_bytes: usize,
    keys: RandomState,
}

impl Texts {
    pub(crate) fn new(redactor: Redactor, bytes: usize) -> Self {
        Texts {
            redactor,
            bytes,
            messages: HashMap::new(),
            messages_bytes: 0,
            keys: RandomState::new(),
        }
    }

    pub(crate) fn set_redactor(&mut self, redactor: Redactor) {
        self.redactor = redactor;
        self.forget();
    }

    pub(crate) fn redact(&mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) {
        self.redactor.redact(redact);
        self.forget();
    }

    fn forget(&mut self) {
        self.messages.clear();
        self.messages_bytes = 0;
    }

    pub(crate) fn keep(&mut self, text: &str) -> String {
        let mut kept = self.redactor.text(text);
        let length = kept.len();
        if length > LONGEST {
            let end = (0..=LONGEST)
                .rev()
                .find(|end| kept.is_char_boundary(*end))
                .unwrap_or(0);
            kept.truncate(end);
            kept.push_str(&format!("\n[{} more bytes]", length - end));
        }
        self.bytes += kept.len();
        kept
    }

    /// `fingerprint`: that of the message.
    pub(crate) fn message(&mut self, fingerprint: u64, message: &Message) -> Text {
        let role = role(message).to_owned();
        if let Some(text) = self.messages.get(&fingerprint) {
            self.bytes += text.len();
            return Text {
                role,
                text: text.clone(),
            };
        }
        let text = self.new_message(message);
        if self.messages_bytes + text.len() > FOUND_AGAIN {
            self.forget();
        }
        self.messages_bytes += text.len();
        self.messages.insert(fingerprint, text.clone());
        Text { role, text }
    }

    fn new_message(&mut self, message: &Message) -> String {
        let mut text = message.shown();
        for ToolCall {
            name, arguments, ..
        } in message.calls()
        {
            text.push_str(&format!(
                "{}calls {name} {arguments}",
                if text.is_empty() { "" } else { "\n" }
            ));
        }
        self.keep(&text)
    }

    /// Distinguishes the messages of a recording.
    pub(crate) fn fingerprint(&self, message: &Message) -> u64 {
        let mut hasher = self.keys.build_hasher();
        (role(message), message.shown(), message.answers()).hash(&mut hasher);
        for ToolCall {
            id,
            name,
            arguments,
            ..
        } in message.calls()
        {
            (id, name, arguments).hash(&mut hasher);
        }
        hasher.finish()
    }

    pub(crate) fn offered(&mut self, request: &Request) -> Offered {
        let Request { output, tools, .. } = request;
        let schema = output
            .as_ref()
            .map(|schema| self.keep(schema.plain().get()));
        Offered {
            schema,
            tools: tools.iter().map(|tool| self.offered_tool(tool)).collect(),
        }
    }

    fn offered_tool(&mut self, tool: &ToolSpec) -> OfferedTool {
        OfferedTool {
            name: self.keep(&tool.name),
            description: self.keep(&tool.description),
            schema: self.keep(tool.schema.plain().get()),
        }
    }

    /// In words.
    pub(crate) fn settings(&mut self, request: &Request) -> Vec<String> {
        let Request {
            temperature,
            max_tokens,
            reasoning,
            extra,
            ..
        } = request;
        let temperature = temperature.map(|number| format!("temperature {number}"));
        let tokens = max_tokens.map(|number| format!("at most {number} tokens"));
        let reasoning = reasoning
            .as_ref()
            .map(|reasoning| format!("reasoning {}", words(reasoning)));
        let extra = extra.iter().map(|(name, value)| format!("{name} {value}"));
        let all = [temperature, tokens, reasoning]
            .into_iter()
            .flatten()
            .chain(extra);
        all.map(|setting| self.keep(&setting)).collect()
    }

    /// The id of a call of a tool, as a model or a server made it up. Ids tell calls apart, so one that is long or holds a secret is
    /// replaced by a hash.
    pub(crate) fn id(&self, id: &str) -> String {
        if id.len() <= LONGEST_ID && self.redactor.text(id) == id {
            return id.to_owned();
        }
        format!("{:016x}", self.keys.hash_one(id))
    }

    pub(crate) fn tool(&mut self, call: &ToolCall) -> ToolText {
        let ToolCall {
            id,
            name,
            arguments,
            ..
        } = call;
        let name = self.keep(name);
        let arguments = self.keep(arguments);
        let id = self.id(id);
        self.bytes += id.len();
        ToolText {
            id,
            name,
            arguments,
            edited: None,
            result: None,
        }
    }
}

/// Returns the word for who wrote a message, as pages show it above the text.
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
    json.as_str()
        .map_or_else(|| json.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let mut texts = Texts::new(Redactor::default(), 0);
        let kept = texts.keep(&("a".to_owned() + &"ä".repeat(LONGEST)));
        assert_eq!(kept.len(), texts.bytes);
        assert!(
            kept.ends_with(&format!("ä\n[{} more bytes]", LONGEST + 2)),
            "{}",
            &kept[LONGEST..]
        );
    }

    #[test]
    fn a_message_that_comes_again_is_kept_as_before() {
        let mut texts = Texts::new(Redactor::default(), 0);
        texts.redact(|text| text.replace("Ada", "[name]"));
        let message = Message::user("Ada asks.");
        let fingerprint = texts.fingerprint(&message);
        for times in 1..=3 {
            assert_eq!(texts.message(fingerprint, &message).text, "[name] asks.");
            assert_eq!(texts.bytes, times * "[name] asks.".len());
        }
        texts.redact(|text| text.replace("asks", "answers"));
        assert_eq!(texts.message(fingerprint, &message).text, "Ada answers.");
        for number in 0..200 {
            let long = Message::user(format!("{number} {}", "x".repeat(60_000)));
            texts.message(texts.fingerprint(&long), &long);
        }
        assert!(texts.messages.values().map(String::len).sum::<usize>() <= FOUND_AGAIN);
    }
}
