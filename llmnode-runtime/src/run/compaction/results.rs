//! The first step: results of tools that are left out of a conversation.
//!
//! In: the messages from the opening on, and what is known of the tools. Out: one
//! edit for each result that goes. A result stays if it is of one of the last
//! rounds, pinned, or short; if its tool must not run twice or asks for an
//! approval, since nobody can call it again; if its tool is unknown now; or if
//! tools that the model has to see stand in it.
//!
//! What stands in its place does not ask the model to call the tool again: most
//! models would do so at once.

use std::borrow::Cow;
use std::collections::HashMap;

use llmnode_model::ext::{CALL_TOOL, FoundWay};
use llmnode_model::{Message, Request, Role, ToolSpec};
use llmnode_reader::text::one_line;

use crate::ledger::Edit;
use crate::run::tools::called_name;

/// Shorter results stay: what stands in their place is not much shorter.
const SHORTEST: usize = 1024;

/// The most bytes of a tool's name that stand in the result's place: a model may have written any.
const MOST_OF_A_NAME: usize = 64;

/// The edits that leave out results. `opening`: messages before it are the
/// program's own. `keep`: rounds at the end that stay.
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

/// Where the last rounds begin: an answer of the model with all that follows it.
/// `None`: there are no more rounds.
pub(super) fn begin_of_last_rounds(messages: &[Message], keep: usize) -> Option<usize> {
    if keep == 0 {
        return Some(messages.len());
    }
    let mut rounds = 0;
    for (at, message) in messages.iter().enumerate().rev() {
        if message.role == Role::Assistant {
            rounds += 1;
        }
        if rounds == keep {
            return Some(at);
        }
    }
    None
}

/// By the ids of calls. A tool that is not listed is called through another one,
/// which has its name.
fn called_names(messages: &[Message]) -> HashMap<&str, Cow<'_, str>> {
    let mut names = HashMap::new();
    for call in messages.iter().flat_map(Message::calls) {
        let mut name = Cow::Borrowed(&*call.name);
        if call.name == CALL_TOOL
            && let Some(called) = called_name(&call.arguments)
        {
            name = Cow::Owned(called);
        }
        names.insert(&*call.id, name);
    }
    names
}

fn may_go(result: &Message) -> bool {
    let has_attachment = result.attachments().next().is_some();
    let is_long = result.content.len() >= SHORTEST || has_attachment;
    let shows_tools = match result.found() {
        Some(found) => found.way != FoundWay::Listed,
        None => false,
    };
    is_long && !shows_tools && !result.is_pinned()
}

fn can_be_called_again(name: &str, tools: &[ToolSpec]) -> bool {
    match tools.iter().find(|tool| tool.name == name) {
        Some(tool) => !tool.at_most_once && !tool.needs_approval,
        None => false,
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use llmnode_model::ToolCall;
    use llmnode_reader::OutputSchema;
    use serde_json::json;

    use super::*;

    fn search() -> ToolSpec {
        let schema = OutputSchema::from_value("search", json!({"type": "object"}));
        ToolSpec::new("search", "Searches.", Arc::new(schema))
    }

    #[test]
    fn a_result_is_known_by_its_tool_also_where_another_one_called_it() {
        for (name, arguments, is_left_out) in [
            ("search", "{}", true),
            (CALL_TOOL, r#"{"name": "search", "arguments": "{}"}"#, true),
            (CALL_TOOL, r#"{"name": "other", "arguments": "{}"}"#, false),
            (CALL_TOOL, "", false),
        ] {
            let call = ToolCall::new("1", name, arguments);
            let mut request = Request::new(vec![
                Message::user("Find it."),
                Message::assistant("").calling([call]),
                Message::tool("1", "hit ".repeat(1_000)),
            ]);
            request.tools = [search()].into();
            let edits = left_out(&request, 0, 3, 0);
            let said = edits.first().map(|edit| &*edit.by[0].content);
            let expected = is_left_out.then_some("[result of search, 4 KB, left out]");
            assert_eq!(said, expected, "{name} {arguments}");
        }
    }
}
