//! A handoff: a call of a tool ends the turns of an agent, and somebody else goes
//! on.
//!
//! It is an outcome beside the answer, and no pause: nobody decides about it, and
//! the agent does not continue. What comes in is the round whose other tools have
//! run; what goes out is a [`Handoff`], or the calls that wait.
//!
//! 1. A set has tools that hand off
//!    ([`Toolset::handoff`](super::Toolset::handoff)), each to a number that means
//!    something to its caller. Such a call runs nothing.
//! 2. At the end of a round, [`Handoff::from_round`] looks at the calls without a
//!    result. If all of them hand off, the first one decides. If a person has to
//!    decide about another call first, the handoffs are answered: the model may
//!    call again after that decision.
//! 3. The turns end without an answer, and the handoff is in the [`HandoffSlot`] of
//!    the caller. Without a slot nobody can go on, and the calls wait as those of
//!    any tool without a body do.

use std::sync::{Arc, OnceLock};

use llmnode_model::{Message, ProviderState, ToolCall};
use serde_json::Value;

use crate::pause::{CallState, Decision, OpenCall};

const LATER: &str = "not executed: other calls wait; call again after their results";

/// How the turns of an agent ended.
#[derive(Debug)]
pub enum AgentOutcome<T> {
    /// With its answer.
    Answer(T),
    /// With a call of a tool that hands off.
    HandedOff(Handoff),
}

/// The round with which the turns of an agent ended.
pub struct Handoff {
    to: usize,
    call: ToolCall,
    content: String,
    carried: Option<Arc<ProviderState>>,
    calls: Vec<RoundCall>,
}

struct RoundCall {
    open: OpenCall,
    /// The call in a form that every provider takes back.
    in_history: ToolCall,
    /// Where it hands off to; `None`: it has a result.
    to: Option<usize>,
}

/// A call that hands off.
#[derive(Debug)]
pub struct HandoffCall {
    /// Where it hands off to.
    pub to: usize,
    /// Whether it is the one that decided.
    pub is_first: bool,
}

impl Handoff {
    /// The calls of a round, each with the form in which it goes back to a
    /// provider, and where those without a result hand off to. `Err`: some wait for
    /// a person, and the handoffs among them are answered.
    pub(super) fn from_round(
        content: &str,
        carried: Option<&Arc<ProviderState>>,
        open: Vec<OpenCall>,
        in_history: impl Fn(&ToolCall) -> ToolCall,
        hands_off: impl Fn(&ToolCall) -> Option<usize>,
    ) -> Result<Self, Vec<OpenCall>> {
        let mut calls: Vec<RoundCall> = Vec::with_capacity(open.len());
        for open in open {
            let to = match is_unanswered(&open.state) {
                true => hands_off(&open.call),
                false => None,
            };
            calls.push(RoundCall {
                to,
                in_history: in_history(&open.call),
                open,
            });
        }
        let first = calls
            .iter()
            .find_map(|one| Some((one.to?, called(&one.open))));
        let waits = calls
            .iter()
            .any(|one| one.to.is_none() && one.open.state.result().is_none());
        match first {
            Some((to, call)) if !waits => Ok(Handoff {
                to,
                call,
                content: content.to_owned(),
                carried: carried.cloned(),
                calls,
            }),
            _ => Err(calls.into_iter().map(answered_for_now).collect()),
        }
    }

    /// Returns what the tool was given that decided.
    pub fn to(&self) -> usize {
        self.to
    }

    /// Returns the call that decided, with the arguments as a person may have edited them.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the messages of the round, where this function answers the calls
    /// that hand off. A call whose answer is `None` stays open, and as the model
    /// wrote it: somebody else is going to execute it.
    pub fn round(&self, answer: impl Fn(&HandoffCall) -> Option<String>) -> Vec<Message> {
        let mut calls = Vec::with_capacity(self.calls.len());
        let mut results = Vec::with_capacity(self.calls.len());
        let mut is_first = true;
        for RoundCall {
            open,
            in_history,
            to,
        } in &self.calls
        {
            let result = match *to {
                None => open.state.result(),
                Some(to) => {
                    let handoff = HandoffCall { to, is_first };
                    is_first = false;
                    answer(&handoff).map(|text| Message::tool(&*open.call.id, text))
                }
            };
            calls.push(match result {
                Some(_) => in_history.clone(),
                None => open.call.clone(),
            });
            results.extend(result);
        }
        let calling = Message::assistant(self.content.as_str())
            .calling(calls)
            .carrying(self.carried.clone());
        let mut messages = vec![calling];
        messages.extend(results);
        messages
    }
}

impl std::fmt::Debug for Handoff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handoff {{ to: {}, call: {:?} }}", self.to, self.call.id)
    }
}

/// Takes the handoff of one call of an agent.
#[derive(Default)]
pub(super) struct HandoffSlot(OnceLock<Handoff>);

impl HandoffSlot {
    pub(super) fn put(&self, handoff: Handoff) {
        // The turns end with the first.
        let _ = self.0.set(handoff);
    }

    pub(super) fn is_taken(&self) -> bool {
        self.0.get().is_some()
    }

    pub(super) fn into_handoff(self) -> Option<Handoff> {
        self.0.into_inner()
    }
}

fn is_unanswered(state: &CallState) -> bool {
    matches!(state, CallState::Answer(None | Some(Decision::Edit(_))))
}

fn called(open: &OpenCall) -> ToolCall {
    let mut call = open.call.clone();
    if let Some(Decision::Edit(arguments)) = open.state.decision() {
        call.arguments = arguments.to_string();
    }
    call
}

fn answered_for_now(one: RoundCall) -> OpenCall {
    let RoundCall { mut open, to, .. } = one;
    if to.is_some() {
        open.state = CallState::Answer(Some(Decision::Result(Value::String(LATER.to_owned()))));
    }
    open
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pause::Paused;

    fn open(id: &str, name: &str, state: CallState) -> OpenCall {
        OpenCall {
            call: ToolCall::new(id, name, json!({"query": id}).to_string()),
            state,
        }
    }

    fn ended(id: &str, result: &str) -> OpenCall {
        open(id, "search", CallState::ended(Message::tool(id, result)))
    }

    /// `writer` and `checker` hand off.
    fn from_round(open: Vec<OpenCall>) -> Result<Handoff, Vec<OpenCall>> {
        Handoff::from_round("I pass it on.", None, open, ToolCall::clone, |call| {
            ["writer", "checker"]
                .iter()
                .position(|name| *name == call.name)
        })
    }

    #[test]
    fn the_first_handoff_decides_and_each_call_of_the_round_is_answered() {
        let handoff = from_round(vec![
            ended("a", "hits"),
            open("b", "checker", CallState::Answer(None)),
            open("c", "writer", CallState::Answer(None)),
        ])
        .ok()
        .unwrap();
        assert_eq!((handoff.to(), handoff.call().id.as_str()), (1, "b"));
        let messages = handoff.round(|call| Some(format!("{} {}", call.to, call.is_first)));
        let results: Vec<&str> = messages.iter().map(|one| one.content.as_str()).collect();
        assert_eq!(results, ["I pass it on.", "hits", "1 true", "0 false"]);
        let open = handoff.round(|call| (!call.is_first).then(String::new));
        let answered: Vec<_> = open.iter().filter_map(Message::answers).collect();
        assert_eq!(answered, ["a", "c"], "the call that decided stays open");
    }

    #[test]
    fn a_person_decides_first_and_the_model_may_call_again() {
        let waiting = from_round(vec![
            open("a", "writer", CallState::Answer(None)),
            open("b", "pay", CallState::Approval(None)),
        ])
        .unwrap_err();
        let [handoff, approval] = &waiting[..] else {
            panic!()
        };
        let Some(Decision::Result(result)) = handoff.state.decision() else {
            panic!()
        };
        assert!(result.as_str().unwrap().contains("call again"), "{result}");
        assert!(matches!(approval.state, CallState::Approval(None)));
    }

    #[test]
    fn what_waits_within_another_agent_is_no_handoff_whatever_its_name() {
        let within = Paused::of_node("writer", String::new(), ("writer", "{}".to_owned()), None);
        let state = CallState::Within(Box::new(within));
        let waiting = from_round(vec![open("a", "writer", state)]).unwrap_err();
        assert!(matches!(waiting[0].state, CallState::Within(_)));
    }
}
