//! How many tokens a conversation has: as the provider counted them, and beyond that by estimate.

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
            return counted.saturating_add(messages_tokens(&messages[at + 1..]));
        }
    }
    messages_tokens(messages).saturating_add(listed_tokens(request))
}

pub(super) fn messages_tokens(messages: &[Message]) -> u64 {
    messages.iter().map(message_tokens).sum()
}

pub(super) fn message_tokens(message: &Message) -> u64 {
    let mut bytes = message.content.len();
    for call in message.calls() {
        bytes += call.name.len() + call.arguments.len() + call.id.len();
    }
    bytes += message.carried().map_or(0, |carried| carried.bytes());
    let attached: u64 = message.attachments().map(Attachment::tokens).sum();
    FRAME + attached + (bytes / BYTES_OF_A_TOKEN) as u64
}

/// Tools and the schema of the answer, which are sent before the messages.
pub(super) fn listed_tokens(request: &Request) -> u64 {
    let tools: usize = request.tools.iter().map(tool_bytes).sum();
    let schema = request.output.as_deref();
    let schema = schema.map_or(0, |schema| schema.plain().get().len());
    ((tools + schema) / BYTES_OF_A_TOKEN) as u64
}

fn tool_bytes(tool: &ToolSpec) -> usize {
    tool.name.len() + tool.description.len() + tool.schema.plain().get().len()
}

/// The tokens of an answer and of the prompt before it.
pub(in crate::run) fn counted_tokens(record: &AttemptRecord) -> Option<u64> {
    let usage = record.usage?;
    Some(usage.input?.saturating_add(usage.output?))
}

/// The same from a journal, whose figures are of all requests that led to the answer.
pub(in crate::run) fn used_tokens(usage: &Usage) -> Option<u64> {
    let is_of_one = usage.requests == 1;
    is_of_one.then(|| usage.input.known.saturating_add(usage.output.known))
}
