//! How many tokens a conversation has: as the provider counted them, and beyond
//! that by estimate.
//!
//! The estimate is by bytes, whatever the model and the language. It decides only
//! when a conversation is shortened, and after each answer what the provider has
//! counted takes its place.

use llmnode_model::{Attachment, Message, Request, ToolSpec};

use crate::ledger::{AttemptRecord, Usage};

const BYTES_OF_A_TOKEN: usize = 4;

/// What a message takes beside its text.
const FRAME: u64 = 4;

/// The tokens of a request. The newest answer that was counted says how many there are up to it.
pub(super) fn request_tokens(request: &Request) -> u64 {
    let messages = &request.messages;
    for (at, message) in messages.iter().enumerate().rev() {
        if let Some(counted) = message.tokens() {
            let later = &messages[at + 1..];
            return counted.saturating_add(messages_tokens(later));
        }
    }
    // No answer was counted: tools and schema are added, which a count has already.
    let listed = listed_tokens(request);
    messages_tokens(messages).saturating_add(listed)
}

pub(super) fn messages_tokens(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

pub(super) fn message_tokens(message: &Message) -> u64 {
    let mut bytes = message.content.len();
    for call in message.calls() {
        bytes += call.name.len();
        bytes += call.arguments.len();
        bytes += call.id.len();
    }
    if let Some(carried) = message.carried() {
        bytes += carried.bytes();
    }
    let attached: u64 = message.attachments().map(Attachment::tokens).sum();
    FRAME + attached + (bytes / BYTES_OF_A_TOKEN) as u64
}

/// Tools and the schema of the answer, which are sent before the messages.
pub(super) fn listed_tokens(request: &Request) -> u64 {
    let mut bytes: usize = request.tools.iter().map(tool_bytes).sum();
    if let Some(schema) = &request.output {
        bytes += schema.plain().get().len();
    }
    (bytes / BYTES_OF_A_TOKEN) as u64
}

fn tool_bytes(tool: &ToolSpec) -> usize {
    let schema = tool.schema.plain().get();
    tool.name.len() + tool.description.len() + schema.len()
}

/// The tokens of an answer and of the prompt before it.
pub(in crate::run) fn counted_tokens(record: &AttemptRecord) -> Option<u64> {
    let usage = record.usage?;
    Some(usage.input?.saturating_add(usage.output?))
}

/// The same from a journal, whose figures are of all requests that led to the answer.
pub(in crate::run) fn used_tokens(usage: &Usage) -> Option<u64> {
    if usage.requests != 1 {
        return None;
    }
    let input = usage.input.known;
    let output = usage.output.known;
    Some(input.saturating_add(output))
}
