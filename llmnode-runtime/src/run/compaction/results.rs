//! The first step: results of tools that are left out of a conversation.
//!
//! In: the messages from the opening on, and what is known of the tools. Out: one edit for each result that goes. A result stays if
//! it is of one of the last rounds, pinned, or short; if its tool must not run twice or asks for an approval, since nobody can call
//! it again; if its tool is unknown now; or if tools that the model has to see stand in it.
//!
//! What stands in its place does not ask the model to call the tool again: most models would do so at once.

use std::collections::HashMap;

use llmnode_model::internal::FoundWay;
use llmnode_model::{Message, Request, Role, ToolSpec};
use llmnode_reader::text::one_line;

use crate::ledger::Edit;

/// Shorter results stay: what stands in their place is not much shorter.
const SHORTEST: usize = 1024;

const MOST_OF_A_NAME: usize = 64;

/// The edits that leave out results. `opening`: messages before it are the program's own. `keep`: rounds at the end that stay.
pub(super) fn left_out(request: &Request, opening: usize, length: usize, keep: usize) -> Vec<Edit> {
    let messages = &request.messages[..length];
    let end = begin_of_last_rounds(messages, keep).unwrap_or(opening);
    let names = called_names(messages);
    let mut edits = Vec::new();
    for (at, message) in messages.iter().enumerate().take(end).skip(opening) {
        let Some(name) = message.answers().and_then(|id| names.get(id)) else {
            continue;
        };
        if may_go(message) && can_be_called_again(name, request.callable()) {
            edits.push(Edit::of_one(at, in_its_place(message, name)));
        }
    }
    edits
}

/// Where the last rounds begin: an answer of the model with all that follows it. `None`: there are no more rounds.
pub(super) fn begin_of_last_rounds(messages: &[Message], keep: usize) -> Option<usize> {
    let calling = messages
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, message)| message.role == Role::Assistant);
    let mut begins = calling.map(|(at, _)| at);
    match keep {
        0 => Some(messages.len()),
        keep => begins.nth(keep - 1),
    }
}

fn called_names(messages: &[Message]) -> HashMap<&str, &str> {
    let mut names = HashMap::new();
    for call in messages.iter().flat_map(Message::calls) {
        names.insert(&*call.id, &*call.name);
    }
    names
}

fn may_go(result: &Message) -> bool {
    let has_attachment = result.attachments().next().is_some();
    let is_long = result.content.len() >= SHORTEST || has_attachment;
    let shows_tools = result
        .found()
        .is_some_and(|found| found.way != FoundWay::Listed);
    is_long && !shows_tools && !result.is_pinned()
}

fn can_be_called_again(name: &str, tools: &[ToolSpec]) -> bool {
    let mut named = tools.iter().filter(|tool| tool.name == name);
    named
        .next()
        .is_some_and(|tool| !tool.at_most_once && !tool.needs_approval)
}

fn in_its_place(result: &Message, name: &str) -> Message {
    let name = one_line(name, MOST_OF_A_NAME);
    let id = result.answers().unwrap_or_default();
    let size = match result.content.len().div_ceil(1024) {
        0 => "an attachment".to_owned(),
        size => format!("{size} KB"),
    };
    Message::tool(id, format!("[result of {name}, {size}, left out]"))
}
