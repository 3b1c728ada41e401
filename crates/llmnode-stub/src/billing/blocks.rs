//! A request cut into blocks, in the order in which providers keep them: tools, the format of the answer, the system's text,
//! messages part by part.
//!
//! A block is the same as another one if their JSON is. But what is billed of a message is what a model reads of it: its texts and the
//! arguments of its calls, not what frames them in JSON, such as the ids and the empty lists that Responses wants back. Tools and
//! schemas are shown to a model about as they are written, so all of them counts.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

const MARKS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];
const BYTES_OF_A_TOKEN: usize = 4;
/// Members of a message that no model reads as text.
const FRAMES: [&str; 12] = [
    "type",
    "role",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "status",
    "phase",
    "annotations",
    "logprobs",
    "summary",
    "index",
];

/// All that a provider's cache sees of a request: for [`CacheMeter::bill_prompt`](super::CacheMeter::bill_prompt), where marks are to be
/// tried at other places.
#[derive(Clone, Debug)]
pub struct CachePrompt {
    pub(super) blocks: Vec<Block>,
    /// The whole text of the prompt, where single letters count.
    pub(super) text: Arc<str>,
    /// No mark of the provider's own.
    pub(super) is_explicit: bool,
    /// The end of the prompt has a mark.
    pub(super) marks_end: bool,
    /// What is written is kept for longer.
    pub(super) is_long: bool,
    pub(super) key: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The hash of everything up to its end.
    pub(super) prefix: u64,
    /// The tokens up to its end.
    pub(super) end: u64,
    is_marked: bool,
    /// The end of a message of the user, or of a tool's result.
    pub(super) ends_input: bool,
}

impl CachePrompt {
    /// Reads the body of a request.
    #[must_use]
    pub fn of(body: &Value) -> CachePrompt {
        let mut text = String::new();
        let mut prompt = CachePrompt {
            blocks: Vec::new(),
            text: Arc::default(),
            is_explicit: body["prompt_cache_options"]["mode"] == "explicit",
            marks_end: body["cache_control"].is_object(),
            is_long: is_long(body),
            key: body["prompt_cache_key"].as_str().map(str::to_owned),
        };
        for member in [
            "tools",
            "response_format",
            "text",
            "output_config",
            "instructions",
            "system",
        ] {
            let is_text = matches!(member, "instructions" | "system");
            let items = match &body[member] {
                Value::Null => continue,
                Value::Array(items) => items.as_slice(),
                value => std::slice::from_ref(value),
            };
            for item in items {
                let read = if is_text {
                    read_text(item)
                } else {
                    unmarked(item).to_string()
                };
                text.push_str(&read);
                prompt.push("", item, &read, false);
            }
        }
        for member in ["messages", "input"] {
            let messages = body[member].as_array().into_iter().flatten();
            messages.for_each(|message| prompt.push_message(&mut text, message));
        }
        if prompt.blocks.is_empty() {
            prompt.push("", &Value::Null, "", false);
        }
        prompt.text = text.into();
        prompt
    }

    /// Returns how many blocks there are: tools, the system's text, parts of messages. A mark stands behind one of them.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns about how many tokens it has.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.end)
    }

    /// Returns the same prompt with marks behind these blocks alone, counted from 0, and none of the provider's own.
    #[must_use]
    pub fn marked(&self, at: &[usize]) -> CachePrompt {
        let mut prompt = self.clone();
        prompt.is_explicit = true;
        prompt.marks_end = false;
        for (place, block) in prompt.blocks.iter_mut().enumerate() {
            block.is_marked = at.contains(&place);
        }
        prompt
    }

    /// Returns the same prompt with this key.
    #[must_use]
    pub fn keyed(&self, key: &str) -> CachePrompt {
        CachePrompt {
            key: Some(key.to_owned()),
            ..self.clone()
        }
    }

    /// Returns how many blocks both begin with.
    #[must_use]
    pub fn shared_with(&self, other: &CachePrompt) -> usize {
        let both = self.blocks.iter().zip(&other.blocks);
        both.take_while(|(one, other)| one.prefix == other.prefix)
            .count()
    }

    pub(super) fn marks(&self) -> impl Iterator<Item = usize> {
        let marked = self.blocks.iter().enumerate();
        marked
            .filter(|(_, block)| block.is_marked)
            .map(|(at, _)| at)
    }

    fn push_message(&mut self, text: &mut String, message: &Value) {
        let role = message["role"].as_str().unwrap_or_default();
        let is_result = message["type"] == "function_call_output";
        let is_input = is_result || matches!(role, "user" | "tool");
        let Some(parts) = message["content"].as_array() else {
            let read = read_text(message);
            text.push_str(&read);
            return self.push(role, message, &read, is_input);
        };
        let last = parts.len().saturating_sub(1);
        for (at, part) in parts.iter().enumerate() {
            let read = read_text(part);
            text.push_str(&read);
            self.push(role, part, &read, is_input && at == last);
        }
    }

    /// `read`: what a model reads of the block.
    fn push(&mut self, role: &str, block: &Value, read: &str, ends_input: bool) {
        let is_marked = MARKS.iter().any(|mark| block[*mark].is_object());
        let written = unmarked(block).to_string();
        let before = self.blocks.last();
        let mut hasher = DefaultHasher::new();
        before.map_or(0, |block| block.prefix).hash(&mut hasher);
        role.hash(&mut hasher);
        written.hash(&mut hasher);
        let tokens = read.len().div_ceil(BYTES_OF_A_TOKEN) as u64;
        let end = before.map_or(0, |block| block.end) + tokens;
        self.blocks.push(Block {
            prefix: hasher.finish(),
            end,
            is_marked,
            ends_input,
        });
    }
}

fn is_long(body: &Value) -> bool {
    let text = body.to_string();
    body["prompt_cache_options"]["ttl"] == "12h"
        || text.contains(r#""cache_control":{"ttl":"1h""#)
        || text.contains(r#""cache_control":{"type":"ephemeral","ttl":"1h""#)
}

/// What a model reads of a message or a part of one.
fn read_text(block: &Value) -> String {
    match block {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(read_text).collect(),
        Value::Object(members) => {
            let is_read = |name: &str| !FRAMES.contains(&name) && !MARKS.contains(&name);
            let read = members.iter().filter(|(name, _)| is_read(name));
            read.map(|(name, value)| match name.as_str() {
                // The arguments of a call, which some providers want as an object.
                "input" => value.to_string(),
                _ => read_text(value),
            })
            .collect()
        }
        other => other.to_string(),
    }
}

/// Marks move along without changing the prompt.
fn unmarked(block: &Value) -> Value {
    let Value::Object(members) = block else {
        return block.clone();
    };
    let kept = members
        .iter()
        .filter(|(name, _)| !MARKS.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
