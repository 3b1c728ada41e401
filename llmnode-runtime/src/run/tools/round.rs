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

/// So many calls of one answer run: more is a model that repeats itself, and each may cost.
pub(in crate::run) const MAX_CALLS: usize = 32;

/// The most bytes of a name or an id that goes back to a provider.
const MAX_WORD_BYTES: usize = 200;

/// The result of a tool that must not run twice, and may have run.
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

/// A call whose tool does not run any more.
pub(super) enum DecidedCall {
    /// Its result is in the round.
    HasResult,
    /// Somebody refused it, or gave its result.
    Becomes(ToolOutcome),
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
    let is_paused = completion.finish == Some(FinishReason::Continue);
    if calls.is_empty() && is_paused && !request.answer_now {
        // The provider's own tools take longer than one response: the turn is sent back as it is.
        return Some(Box::new(Round {
            content: std::mem::take(&mut completion.text),
            carried: completion.carried.take(),
            calls,
            states: Vec::new(),
        }));
    }
    if calls.is_empty() || request.tools.is_empty() {
        return None;
    }
    if request.answer_now || calls.iter().all(|call| is_answer(call, request)) {
        // No calls any more, but the answer's function is called like one.
        let answer = calls.iter().find(|call| is_answer(call, request));
        if let Some(answer) = answer {
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

/// Whether the answer itself is called like a tool: some servers have no other way to a form.
fn is_answer(call: &ToolCall, request: &Request) -> bool {
    let output = request.output.as_ref();
    output.is_some_and(|output| output.name() == call.name)
}

/// The calls of an answer where only an answer was left, for its record. None of them runs.
pub(in crate::run) fn forbidden_calls(
    completion: &Completion,
    request: &Request,
) -> Vec<ToolRecord> {
    if !request.answer_now || request.tools.is_empty() {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for call in &completion.calls {
        if !is_answer(call, request) {
            calls.push(call.clone());
        }
    }
    let mut records = Vec::with_capacity(calls.len());
    for call in with_unique_ids(calls, &request.messages) {
        records.push(ToolRecord {
            outcome: "not_executed".into(),
            ..ToolRecord::called(&call.id, &call.name)
        });
    }
    records
}

/// Providers refuse a conversation with a tool call that has no result.
pub(in crate::run) fn unanswered_call(messages: &[Message]) -> Option<&str> {
    for (at, message) in messages.iter().enumerate() {
        let following = &messages[at + 1..];
        for call in message.calls() {
            // Results stand directly behind the calls.
            let mut results = following.iter().map_while(Message::answers);
            if !results.any(|id| id == call.id) {
                return Some(&call.id);
            }
        }
    }
    None
}

/// Providers refuse duplicate ids in a conversation. Ids may have left it, with
/// what was summed up, and stand in it again once somebody sends all of it: so a
/// number that was given before is not given again.
fn with_unique_ids(mut calls: Vec<ToolCall>, messages: &[Message]) -> Vec<ToolCall> {
    if have_unique_ids(&calls, messages) {
        return calls;
    }
    let mut ids: HashSet<String> = HashSet::new();
    for call in messages.iter().flat_map(Message::calls) {
        ids.insert(call.id.clone());
    }
    // Of the conversation before this answer; looked for only where an id needs it.
    let mut highest: Option<usize> = None;
    let mut number = 0;
    for call in &mut calls {
        let may_have_left = match own_number(&call.id) {
            Some(suffix) => suffix <= *highest.get_or_insert_with(|| highest_number(&ids)),
            None => false,
        };
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

/// Compares each with all: for the few calls that most answers have, this takes
/// less than to collect the ids of a conversation. `false`: they are not, or this
/// is not enough to say so.
fn have_unique_ids(calls: &[ToolCall], messages: &[Message]) -> bool {
    if calls.len() > MAX_CALLS {
        return false;
    }
    for (at, call) in calls.iter().enumerate() {
        if !is_usable(&call.id) || own_number(&call.id).is_some() {
            return false;
        }
        let of_conversation = messages.iter().flat_map(Message::calls);
        let mut others = of_conversation.chain(&calls[..at]);
        if others.any(|other| other.id == call.id) {
            return false;
        }
    }
    true
}

/// Providers refuse an id that is empty or long.
fn is_usable(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_WORD_BYTES
}

/// Of the ids that this library gave, the highest number: earlier ones may have
/// left the conversation.
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
    /// Calls that stand in no response of their own, such as those of a text.
    /// `messages`: the conversation before them.
    pub(in crate::run) fn new(calls: Vec<ToolCall>, messages: &[Message]) -> Box<Self> {
        Box::new(Round {
            content: String::new(),
            carried: None,
            calls: with_unique_ids(calls, messages),
            states: Vec::new(),
        })
    }

    /// A round that goes on: some of its calls may have results.
    pub(in crate::run) fn open(
        content: &str,
        carried: Option<Arc<ProviderState>>,
        open: &[OpenCall],
    ) -> Box<Self> {
        let mut calls = Vec::with_capacity(open.len());
        let mut states = Vec::with_capacity(open.len());
        for OpenCall { call, state } in open {
            calls.push(call.clone());
            states.push(state.clone());
        }
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

    /// How much the model wrote, for an estimate where no usage is reported.
    pub(in crate::run) fn characters(&self) -> usize {
        let mut characters = self.content.chars().count();
        for call in &self.calls {
            characters += call.name.chars().count();
            characters += call.arguments.chars().count();
        }
        characters
    }

    /// What an earlier process or a person has decided of a call. `None`: nothing,
    /// so its tool runs.
    pub(super) fn already_decided(&self, index: usize) -> Option<DecidedCall> {
        match self.states.get(index)? {
            CallState::Ended { .. } => Some(DecidedCall::HasResult),
            CallState::Approval(Some(Decision::No(why)))
            | CallState::Answer(Some(Decision::No(why))) => {
                Some(DecidedCall::Becomes(ToolOutcome::denied(why)))
            }
            CallState::Answer(Some(Decision::Result(result))) => {
                let reply = match result {
                    Value::String(text) => ToolReply::new(text.clone()),
                    result => ToolReply::new(result.to_string()),
                };
                Some(DecidedCall::Becomes(ToolOutcome::done(reply, None)))
            }
            CallState::Approval(_)
            | CallState::Answer(_)
            | CallState::Within(_)
            | CallState::Asked(_) => None,
        }
    }

    /// The answer and the results of its calls, in their order, for the next turn.
    /// `Err`: some calls wait.
    pub(in crate::run) fn to_messages(
        &self,
        states: Vec<CallState>,
    ) -> Result<Vec<Message>, Vec<OpenCall>> {
        let results: Option<Vec<Message>> = states.iter().map(CallState::result).collect();
        let Some(results) = results else {
            let mut open = Vec::with_capacity(self.calls.len());
            for (call, state) in self.calls.iter().zip(states) {
                open.push(OpenCall {
                    call: call.clone(),
                    state,
                });
            }
            return Err(open);
        };
        let calls: Vec<ToolCall> = self.calls.iter().map(for_history).collect();
        let calling = Message::assistant(self.content.as_str())
            .calling(calls)
            .carrying(self.carried.clone());
        let mut messages = vec![calling];
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

    /// The calls of a round whose execution ended early: with the results that
    /// there are. A tool that was started and must not be executed twice has one
    /// that says so.
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
            let has_begun = begun.get(index) == Some(&true);
            let state = match state {
                Some(state) => state,
                None if has_begun && is_at_most_once(tools, &call.name) => {
                    let result = Message::tool(&*call.id, INTERRUPTED).failed();
                    CallState::ended(result)
                }
                None => {
                    let before = self.states.get(index).cloned();
                    before.unwrap_or(CallState::Approval(None))
                }
            };
            open.push(OpenCall {
                call: call.clone(),
                state,
            });
        }
        open
    }

    /// Whether the model has called nothing that there is. It may not do so for long.
    pub(in crate::run) fn has_only_unknown_tools(&self, request: &Request) -> bool {
        if self.calls.is_empty() {
            return false;
        }
        let tools = request.callable();
        self.calls
            .iter()
            .all(|call| tool_index(tools, &call.name).is_none() && !is_search(call, request))
    }

    /// What the model reads of a call that runs no tool. `tool`: where it stands in
    /// the list, if it does.
    pub(super) fn not_executed(
        &self,
        index: usize,
        tool: Option<usize>,
        request: &Request,
        own_name: &str,
    ) -> ToolOutcome {
        let call = &self.calls[index];
        if is_answer(call, request) {
            return ToolOutcome::refused(
                "not_executed",
                "not used: answer after the results of the tools",
            );
        }
        // An answer may have any number of calls: only the first ones get a message
        // that lists names.
        if tool.is_some() || index >= MAX_CALLS {
            let why = format!("not executed: at most {MAX_CALLS} calls of one answer are");
            return ToolOutcome::refused("not_executed", why);
        }
        let message = unknown_tool_message(&request.tools, &call.name, own_name);
        ToolOutcome::refused("unknown_tool", message)
    }
}

fn is_at_most_once(tools: &[ToolSpec], name: &str) -> bool {
    tool_index(tools, name).is_some_and(|tool| tools[tool].at_most_once)
}

/// Where a tool stands in a list.
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

/// What a model reads that called a tool which is not there. Many models call
/// themselves by the node's name.
pub(super) fn unknown_tool_message(tools: &[ToolSpec], name: &str, own_name: &str) -> String {
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let listed = &names[..names.len().min(64)];
    let listed = listed.join(", ");
    if same_name(name, own_name) {
        return format!("{own_name} is you: answer, or call one of {listed}");
    }
    let shown = one_line(name, MAX_WORD_BYTES);
    let message = format!("there is no tool {shown:?}; the tools are {listed}");
    match nearest(name, names) {
        Some(meant) => format!("{message}; did you mean {meant}?"),
        None => message,
    }
}
