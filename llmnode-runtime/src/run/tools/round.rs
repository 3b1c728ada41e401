//! A round: the calls of tools in one answer, side by side.

use std::collections::HashSet;
use std::sync::Arc;

use llmnode_model::{
    Completion, FinishReason, Message, ProviderState, Request, ToolCall, ToolSpec,
};
use llmnode_reader::text::{nearest, one_line, same_name};
use serde_json::Value;

use super::outcome::ToolOutcome;
use super::search::{as_written, is_search, unwrapped};
use super::typed::is_object;
use super::value::ToolReply;
use crate::ledger::ToolRecord;
use crate::pause::{CallState, Decision, OpenCall};

pub(in crate::run) const MAX_CALLS: usize = 32;

const MAX_WORD_BYTES: usize = 200;

const INTERRUPTED: &str = "the tool was interrupted after it had begun, and nobody knows whether it took effect; it was not called again";

pub(in crate::run) struct Round {
    pub(in crate::run) content: String,
    pub(in crate::run) carried: Option<Arc<ProviderState>>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) states: Vec<CallState>,
}

/// A round whose tools are executed. It outlives the execution, so that a deadline loses no result.
pub(in crate::run) struct RunningRound {
    pub(in crate::run) round: Box<Round>,
    pub(in crate::run) states: Vec<Option<CallState>>,
    /// The tools that were started.
    pub(in crate::run) begun: Vec<bool>,
}

impl RunningRound {
    pub(in crate::run) fn new(round: Box<Round>) -> Box<Self> {
        let mut states: Vec<Option<CallState>> = round
            .states
            .iter()
            .map(|state| state.result().map(CallState::ended))
            .collect();
        states.resize_with(round.calls.len(), || None);
        let begun = vec![false; round.calls.len()];
        Box::new(RunningRound {
            round,
            states,
            begun,
        })
    }
}

/// A call of the answer's function becomes the answer.
pub(in crate::run) fn answer_or_calls(
    completion: &mut Completion,
    request: &Request,
) -> Option<Box<Round>> {
    let calls = std::mem::take(&mut completion.calls);
    let answers = |call: &&ToolCall| {
        request
            .output
            .as_ref()
            .is_some_and(|output| output.name() == call.name)
    };
    if calls.is_empty() && completion.finish == Some(FinishReason::Continue) && !request.answer_now
    {
        // The provider's own tools take longer than one response: the turn is sent back as it is.
        let (content, carried) = (
            std::mem::take(&mut completion.text),
            completion.carried.take(),
        );
        return Some(Box::new(Round {
            content,
            carried,
            calls,
            states: Vec::new(),
        }));
    }
    if calls.is_empty() || request.tools.is_empty() {
        return None;
    }
    if request.answer_now || calls.iter().all(|call| answers(&call)) {
        // No calls any more, but the answer's function is called like one.
        if let Some(answer) = calls.iter().find(answers) {
            completion.text.clone_from(&answer.arguments);
        }
        return None;
    }
    let calls = unwrapped(with_unique_ids(calls, &request.messages), request);
    let carried = completion.carried.take();
    Some(Box::new(Round {
        content: completion.text.clone(),
        carried,
        calls,
        states: Vec::new(),
    }))
}

pub(in crate::run) fn forbidden_calls(
    completion: &Completion,
    request: &Request,
) -> Vec<ToolRecord> {
    if !request.answer_now || request.tools.is_empty() {
        return Vec::new();
    }
    let answer = request.output.as_ref().map(|output| output.name());
    let calls = completion
        .calls
        .iter()
        .filter(|call| answer != Some(&call.name))
        .cloned()
        .collect();
    let record = |call: &ToolCall| ToolRecord {
        outcome: "not_executed".into(),
        ..ToolRecord::called(&call.id, &call.name)
    };
    with_unique_ids(calls, &request.messages)
        .iter()
        .map(record)
        .collect()
}

/// Providers refuse a conversation with a tool call that has no result.
pub(in crate::run) fn unanswered_call(messages: &[Message]) -> Option<&str> {
    messages.iter().enumerate().find_map(|(at, message)| {
        let results = || messages[at + 1..].iter().map_while(Message::answers);
        let open = message
            .calls()
            .iter()
            .find(|call| !results().any(|id| id == call.id))?;
        Some(open.id.as_str())
    })
}

/// Providers refuse duplicate ids in a conversation. Ids may have left it, with what was summed up, and stand in it again once somebody
/// sends all of it: so a number that was given before is not given again.
fn with_unique_ids(mut calls: Vec<ToolCall>, messages: &[Message]) -> Vec<ToolCall> {
    if have_unique_ids(&calls, messages) {
        return calls;
    }
    let ids = messages
        .iter()
        .flat_map(Message::calls)
        .map(|call| call.id.clone());
    let mut ids: HashSet<String> = ids.collect();
    let mut highest: Option<usize> = None;
    let mut number = 0;
    for call in &mut calls {
        let may_have_left = own_number(&call.id)
            .is_some_and(|suffix| suffix <= *highest.get_or_insert_with(|| highest_number(&ids)));
        if !is_usable(&call.id) || may_have_left || ids.contains(&call.id) {
            number = number.max(ids.len()).max(highest_number(&ids));
            loop {
                number += 1;
                call.id = format!("call_{number}");
                if !ids.contains(&call.id) {
                    break;
                }
            }
        }
        ids.insert(call.id.clone());
    }
    calls
}

/// Compares each with all: for the few calls that most answers have, this takes less than to collect the ids of a conversation.
/// `false`: they are not, or this is not enough to say so.
fn have_unique_ids(calls: &[ToolCall], messages: &[Message]) -> bool {
    calls.len() <= MAX_CALLS
        && calls.iter().enumerate().all(|(at, call)| {
            let of_conversation = messages.iter().flat_map(Message::calls);
            let mut others = of_conversation.chain(&calls[..at]);
            is_usable(&call.id)
                && own_number(&call.id).is_none()
                && others.all(|other| other.id != call.id)
        })
}

/// Providers refuse an id that is empty or long.
fn is_usable(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_WORD_BYTES
}

/// Of the ids that this library gave, the highest number: earlier ones may have left the conversation.
fn highest_number(ids: &HashSet<String>) -> usize {
    let numbers = ids.iter().filter_map(|id| own_number(id));
    numbers.max().unwrap_or(0)
}

/// The number of an id as this library gives them. A server's own ids may be numbers of any length.
fn own_number(id: &str) -> Option<usize> {
    let number = id.strip_prefix("call_")?;
    let is_short = number.len() <= 6;
    number.parse().ok().filter(|_| is_short)
}

impl Round {
    /// Calls that stand in no response of their own, such as those of a text. `messages`: the conversation before them.
    pub(in crate::run) fn new(calls: Vec<ToolCall>, messages: &[Message]) -> Box<Self> {
        Box::new(Round {
            content: String::new(),
            carried: None,
            calls: with_unique_ids(calls, messages),
            states: Vec::new(),
        })
    }

    pub(in crate::run) fn open(
        content: &str,
        carried: Option<Arc<ProviderState>>,
        open: &[OpenCall],
    ) -> Box<Self> {
        let (calls, states) = open
            .iter()
            .map(|OpenCall { call, state }| (call.clone(), state.clone()))
            .unzip();
        Box::new(Round {
            content: content.to_owned(),
            carried,
            calls,
            states,
        })
    }

    pub(in crate::run) fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    pub(in crate::run) fn characters(&self) -> usize {
        let of_calls = self
            .calls
            .iter()
            .map(|call| call.name.chars().count() + call.arguments.chars().count());
        self.content.chars().count() + of_calls.sum::<usize>()
    }

    /// `Some(None)`: it already has a result.
    pub(super) fn already_decided(&self, index: usize) -> Option<Option<ToolOutcome>> {
        match self.states.get(index)? {
            CallState::Ended { .. } => Some(None),
            CallState::Approval(Some(Decision::No(why)))
            | CallState::Answer(Some(Decision::No(why))) => Some(Some(ToolOutcome::denied(why))),
            CallState::Answer(Some(Decision::Result(result))) => {
                let reply = match result {
                    Value::String(text) => ToolReply::new(text.clone()),
                    result => ToolReply::new(result.to_string()),
                };
                Some(Some(ToolOutcome::done(reply, None)))
            }
            CallState::Approval(_)
            | CallState::Answer(_)
            | CallState::Within(_)
            | CallState::Asked(_) => None,
        }
    }

    /// `Err`: some calls wait.
    pub(in crate::run) fn to_messages(
        &self,
        states: Vec<CallState>,
    ) -> Result<Vec<Message>, Vec<OpenCall>> {
        let results: Option<Vec<Message>> = states.iter().map(CallState::result).collect();
        let Some(results) = results else {
            let open = |(call, state): (&ToolCall, _)| OpenCall {
                call: call.clone(),
                state,
            };
            return Err(self.calls.iter().zip(states).map(open).collect());
        };
        let calls = self.calls.iter().map(for_history).collect::<Vec<_>>();
        let calling = Message::assistant(self.content.as_str()).calling(calls);
        let mut messages = vec![calling.carrying(self.carried.clone())];
        messages.extend(results);
        Ok(messages)
    }

    /// The calls of a round that a crash may break off at any time.
    pub(in crate::run) fn as_if_begun(&self, tools: &[ToolSpec]) -> Vec<OpenCall> {
        let states = self.states.iter().map(CallState::result);
        let mut states: Vec<_> = states.map(|result| result.map(CallState::ended)).collect();
        states.resize_with(self.calls.len(), || None);
        self.broken_off(states, &vec![true; self.calls.len()], tools)
    }

    /// The calls of a round whose execution ended early: with the results that there are. A tool that was started and must not be
    /// executed twice has one that says so.
    pub(in crate::run) fn broken_off(
        &self,
        states: Vec<Option<CallState>>,
        begun: &[bool],
        tools: &[ToolSpec],
    ) -> Vec<OpenCall> {
        let mut open = Vec::with_capacity(self.calls.len());
        for (index, state) in states.into_iter().enumerate() {
            let Some(call) = self.calls.get(index) else {
                break;
            };
            let at_most_once =
                || tool_index(tools, &call.name).is_some_and(|tool| tools[tool].at_most_once);
            let state = match state {
                Some(state) => state,
                None if begun.get(index) == Some(&true) && at_most_once() => {
                    CallState::ended(Message::tool(&*call.id, INTERRUPTED).failed())
                }
                None => self
                    .states
                    .get(index)
                    .cloned()
                    .unwrap_or(CallState::Approval(None)),
            };
            open.push(OpenCall {
                call: call.clone(),
                state,
            });
        }
        open
    }

    pub(in crate::run) fn has_only_unknown_tools(&self, request: &Request) -> bool {
        let unknown = |call: &ToolCall| {
            tool_index(request.callable(), &call.name).is_none() && !is_search(call, request)
        };
        !self.calls.is_empty() && self.calls.iter().all(unknown)
    }

    pub(super) fn not_executed(
        &self,
        index: usize,
        tool: Option<usize>,
        request: &Request,
        own_name: &str,
    ) -> ToolOutcome {
        let name = &self.calls[index].name;
        if request
            .output
            .as_ref()
            .is_some_and(|output| output.name() == name)
        {
            return ToolOutcome::refused(
                "not_executed",
                "not used: answer after the results of the tools",
            );
        }
        // An answer may have any number of calls: only the first ones get a message that lists names.
        if tool.is_some() || index >= MAX_CALLS {
            let why = format!("not executed: at most {MAX_CALLS} calls of one answer are");
            return ToolOutcome::refused("not_executed", why);
        }
        ToolOutcome::refused(
            "unknown_tool",
            unknown_tool_message(&request.tools, name, own_name),
        )
    }
}

pub(in crate::run) fn tool_index(tools: &[ToolSpec], name: &str) -> Option<usize> {
    tools.iter().position(|tool| tool.name == name)
}

/// Some servers refuse the conversation if the arguments of one call are not an object.
pub(in crate::run) fn for_history(call: &ToolCall) -> ToolCall {
    let mut call = as_written(call);
    call.name = one_line(&call.name, MAX_WORD_BYTES);
    if !is_object(&call.arguments) {
        call.arguments = "{}".to_owned();
    }
    call
}

pub(super) fn unknown_tool_message(tools: &[ToolSpec], name: &str, own_name: &str) -> String {
    let names = || tools.iter().map(|tool| &*tool.name);
    let listed = names().take(64).collect::<Vec<_>>().join(", ");
    if same_name(name, own_name) {
        return format!("{own_name} is you: answer, or call one of {listed}");
    }
    let meant = nearest(name, names()).map(|meant| format!("; did you mean {meant}?"));
    format!(
        "there is no tool {:?}; the tools are {listed}{}",
        one_line(name, MAX_WORD_BYTES),
        meant.unwrap_or_default()
    )
}
