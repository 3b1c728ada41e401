//! What a conversation is based on, as hashes: they are taken of a request and its
//! node when a conversation stops, and compared with those of the request by which
//! it is resumed.

use llmnode_model::internal::sha256_hex;
use llmnode_model::{Category, Message, Request, ToolSpec};
use llmnode_reader::ask::without_choices;
use serde_json::{Value, json};

use crate::error::NodeError;
use crate::pause::{CallState, Conversation, Decision, OpenCall, Shown};
use crate::prompt::generated::Prompt;

/// Hashes of a node's own values, and of the history that it was given.
pub(super) struct FieldValues {
    values: String,
    history: String,
}

impl FieldValues {
    /// `prompt`: one message per value, and the history behind them.
    pub(super) fn of(prompt: &Prompt) -> Self {
        let (values, history) = prompt.messages().split_at(prompt.values());
        let history: Vec<Message> = history
            .iter()
            .map(|message| message.bare().into_owned())
            .collect();
        FieldValues {
            values: hash(&json!(values)),
            history: hash(&json!(history)),
        }
    }
}

/// `opening`: the messages before the conversation. `first`: those of the prompt.
pub(super) fn shown(
    request: &Request,
    opening: usize,
    first: usize,
    fields: Option<FieldValues>,
    model: Option<&str>,
) -> Shown {
    let Request {
        messages, output, ..
    } = request;
    let (instructions, rest) = messages.split_at(opening.min(messages.len()));
    let prompt = rest.get(..first.saturating_sub(opening)).unwrap_or(rest);
    // The tools that were found for it are no part of the prompt.
    let prompt_messages: Vec<Message> = prompt
        .iter()
        .map(|message| message.clone().finding(None))
        .collect();
    let output = output
        .as_ref()
        .map(|output| (output.name(), without_choices(output).plain().to_owned()));
    let (values, history) = fields.map(|fields| (fields.values, fields.history)).unzip();
    Shown {
        values,
        history,
        instructions: hash(&json!(instructions)),
        prompt: hash(&json!(prompt_messages)),
        tools: request
            .callable()
            .iter()
            .map(|tool| (tool.name.to_string(), hash(&tool_as_shown(tool))))
            .collect(),
        output: hash(&json!(output)),
        model: model.map(str::to_owned),
    }
}

/// Refuses what a person did not see: a waiting call of a tool that is gone, or
/// that says something else now.
pub(super) fn check_tools(conversation: &Conversation, now: &Shown) -> Result<(), NodeError> {
    let Some(shown) = &conversation.shown else {
        return Ok(());
    };
    for OpenCall { call, state } in &conversation.calls {
        let may_run = match state {
            CallState::Ended { .. } => false,
            CallState::Approval(decision) | CallState::Answer(decision) => {
                !matches!(decision, None | Some(Decision::No(_)))
            }
            CallState::Within(_) | CallState::Asked(_) => true,
        };
        if !may_run {
            continue;
        }
        let is_agent = matches!(state, CallState::Within(_));
        let fault = match (shown.tools.get(&call.name), now.tools.get(&call.name)) {
            (Some(_), None) => "is gone",
            (Some(before), Some(after)) if before != after && !is_agent => {
                "has another description or other parameters"
            }
            _ => continue,
        };
        let why = format!(
            "the tool `{}` of the approved call {:?} {fault} since it was shown; start again, so that a person sees what is approved, \
             or run it all the same with `allow_changed_tool()`",
            call.name, call.id
        );
        return Err(NodeError::new(Category::ConfigError, why));
    }
    Ok(())
}

/// What of a tool a person was shown.
pub(super) fn tool_as_shown(tool: &ToolSpec) -> Value {
    json!([
        tool.name,
        tool.description,
        without_choices(&tool.schema).plain()
    ])
}

pub(super) fn hash(value: &Value) -> String {
    sha256_hex(value.to_string().as_bytes())
}
