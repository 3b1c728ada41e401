//! A paused conversation as data.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fmt;

use llmnode_model::internal::{is_old_hash, sha256_hex};
use llmnode_model::{Category, Message};
use llmnode_reader::text::one_line;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::approval::Approval;
use super::call_state::{CallState, Conversation, OpenCall, Paused};
use super::claims::Claim;
use super::decision::Decision;
use super::questions::Asked;
use super::waiting::{WaitingCall, segment};
use crate::error::NodeError;
use crate::format;
use crate::position::Position;

const FORMAT: &str = "llmnode/conversation";
const VERSION: u64 = 4;

impl Paused {
    /// Returns the calls that wait and are not decided yet, in order.
    pub fn waiting(&self) -> Vec<WaitingCall> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect(&self, around: &str, to: &mut Vec<WaitingCall>) {
        for OpenCall { call, state } in &self.0.calls {
            let id = format!("{around}{}", segment(&call.id));
            match state {
                CallState::Within(paused) => paused.collect(&format!("{id}/"), to),
                CallState::Approval(None) | CallState::Answer(None | Some(Decision::Edit(_))) => {
                    let arguments = match state.decision() {
                        Some(Decision::Edit(arguments)) => arguments.to_string(),
                        _ => call.arguments.clone(),
                    };
                    let wants_result = matches!(state, CallState::Answer(_));
                    let node = self.0.node.clone();
                    to.push(WaitingCall::shown(
                        id,
                        node,
                        &call.name,
                        &arguments,
                        wants_result,
                    ));
                }
                CallState::Asked(questions) => {
                    let node = &self.0.node;
                    for (name, question) in questions.open() {
                        let shown = WaitingCall::shown(
                            id.clone(),
                            node.clone(),
                            &call.name,
                            &questions.arguments,
                            false,
                        );
                        to.push(shown.with_question(name, question));
                    }
                }
                CallState::Ended { .. } | CallState::Approval(_) | CallState::Answer(_) => {}
            }
        }
    }

    /// Returns the name of the node whose call has paused.
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// Returns an id of what waits: the same for each copy, and whatever is decided. An approved pause runs once in a process; a
    /// program with several makes the id a unique key, and deletes the pause in the transaction that inserts it.
    pub fn id(&self) -> String {
        let Conversation {
            node,
            fingerprint,
            root,
            turns,
            messages,
            content,
            calls,
            ..
        } = &*self.0;
        let calls: Vec<Value> = calls.iter().map(undecided).collect();
        sha256_hex(
            json!([node, fingerprint, root, turns, messages, content, calls])
                .to_string()
                .as_bytes(),
        )
    }

    /// The claims on it and on the conversations within it.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        let within = self.0.calls.iter().filter_map(|open| match &open.state {
            CallState::Within(paused) => Some(paused.claims()),
            _ => None,
        });
        std::iter::once(self.claim())
            .chain(within.flatten())
            .collect()
    }

    pub(crate) fn claim(&self) -> Claim {
        Claim::new(self.id(), self.0.node.clone())
    }

    /// The calls about which another copy of this pause has a decision, and this one has none or another one.
    pub(crate) fn decided_otherwise_in(&self, other: &Paused) -> Vec<String> {
        let mut decisions = BTreeMap::new();
        self.collect_decisions("", &mut decisions);
        let mut others = BTreeMap::new();
        other.collect_decisions("", &mut others);
        others.retain(|id, decision| decisions.get(id) != Some(decision));
        others.into_keys().collect()
    }

    /// Decisions as JSON, by the ids of their calls.
    fn collect_decisions(&self, around: &str, to: &mut BTreeMap<String, Value>) {
        for OpenCall { call, state } in &self.0.calls {
            let id = format!("{around}{}", segment(&call.id));
            match state {
                CallState::Within(paused) => paused.collect_decisions(&format!("{id}/"), to),
                CallState::Asked(questions) => {
                    for (name, reply) in questions.replied() {
                        to.insert(format!("{id}/{}", segment(name)), json!(reply));
                    }
                }
                CallState::Approval(Some(decision)) | CallState::Answer(Some(decision)) => {
                    to.insert(id, json!(decision));
                }
                CallState::Approval(None) | CallState::Answer(None) | CallState::Ended { .. } => {}
            }
        }
    }

    /// Returns the messages so far, without the round that waits.
    pub fn messages(&self) -> &[Message] {
        &self.0.messages
    }

    /// Decides on a call that waits for an approval. A later decision about the same call replaces an earlier one.
    ///
    /// # Errors
    /// A `config_error` if no such call waits, with the ids of those that do.
    pub fn decide(self, id: &str, approval: Approval) -> Result<Self, NodeError> {
        self.settle(id, approval.decision())
    }

    /// Gives the result of a call of a tool without a body, or replies to the [question](crate::WaitingCall::question) of a
    /// tool. The model reads a result as JSON, and a string as it is; a reply goes to the tool alone.
    ///
    /// # Errors
    /// A `config_error` if no such call waits, with the ids of those that do, or if a reply does not follow the schema of its
    /// question.
    pub fn answer(self, id: &str, result: impl Into<Value>) -> Result<Self, NodeError> {
        self.settle(id, Some(Decision::Result(result.into())))
    }

    /// Refuses to reply to the [question](crate::WaitingCall::question) of a tool, which then ends as it likes. Of another call
    /// that waits, it is a [no](Approval::no).
    ///
    /// # Errors
    /// A `config_error` if no such call waits, with the ids of those that do.
    pub fn decline(self, id: &str) -> Result<Self, NodeError> {
        self.decide(id, Approval::no("declined"))
    }

    fn settle(mut self, id: &str, decision: Option<Decision>) -> Result<Self, NodeError> {
        if let Some((questions, name)) = self.find_question(id) {
            match questions.settle(|other: &str| segment(other) == name, decision.clone()) {
                Ok(true) => return Ok(self),
                Ok(false) => {}
                Err(why) => return Err(refused_decision(format!("the call {id:?}: {why}"))),
            }
        }
        let Some(state) = self.find(id) else {
            let waiting: Vec<_> = self.waiting().into_iter().map(|call| call.id).collect();
            return Err(refused_decision(format!(
                "no call {id:?} is waiting; these are: {}",
                waiting.join(", ")
            )));
        };
        let (place, fits) = match state {
            // `Approval::later` does not take back an edit.
            CallState::Answer(Some(Decision::Edit(_))) if decision.is_none() => return Ok(self),
            CallState::Approval(place) => (place, !matches!(decision, Some(Decision::Result(_)))),
            CallState::Answer(place) => (
                place,
                matches!(decision, Some(Decision::Result(_) | Decision::No(_)) | None),
            ),
            CallState::Ended { .. } | CallState::Within(_) | CallState::Asked(_) => {
                return Err(refused_decision(format!("the call {id:?} is not waiting")));
            }
        };
        if !fits {
            let why = format!(
                "the call {id:?} waits for another decision: `answer` is for a tool without a body, and `Approval::yes` and \
                 `Approval::edit` are for one that needs an approval"
            );
            return Err(refused_decision(why));
        }
        *place = decision;
        Ok(self)
    }

    /// The state of the call that asks a question, and what its id ends with.
    fn find_question<'i>(&mut self, id: &'i str) -> Option<(&mut Asked, &'i str)> {
        let (call, name) = id.rsplit_once('/')?;
        match self.find(call)? {
            CallState::Asked(questions) => Some((questions, name)),
            _ => None,
        }
    }

    fn find(&mut self, id: &str) -> Option<&mut CallState> {
        let (first, rest) = id
            .split_once('/')
            .map_or((id, None), |(first, rest)| (first, Some(rest)));
        let open = self
            .0
            .calls
            .iter_mut()
            .find(|open| segment(&open.call.id) == first)?;
        match (rest, &mut open.state) {
            (Some(rest), CallState::Within(paused)) => paused.find(rest),
            (Some(_), _) => None,
            (None, state) => Some(state),
        }
    }

    /// Refuses a pause of version 1: its fingerprint can be forged.
    pub fn check_version(&self) -> Result<(), NodeError> {
        if !is_old_hash(&self.0.fingerprint) {
            return Ok(());
        }
        let mut ran = Vec::new();
        self.collect_ran(&mut ran);
        let ran = match &*ran {
            [] => String::new(),
            ran => format!(
                "; these tools were executed, so check what they did first: {}",
                ran.join(", ")
            ),
        };
        let why = format!(
            "the pause of `{}` was stored by an older version, and what it approves can be forged; start again, or resume from the \
             journal without `approve`, and decide the new pause{ran}",
            self.0.node
        );
        Err(NodeError::new(Category::ConfigError, why))
    }

    fn collect_ran(&self, to: &mut Vec<String>) {
        let Conversation {
            messages, calls, ..
        } = &*self.0;
        let answered: HashSet<&str> = messages.iter().filter_map(Message::answers).collect();
        let before = messages
            .iter()
            .flat_map(Message::calls)
            .filter(|call| answered.contains(&*call.id));
        let ended = calls
            .iter()
            .filter(|open| open.state.result().is_some())
            .map(|open| &open.call);
        for call in before.chain(ended) {
            let name = format!("`{}`", one_line(&call.name, 200));
            if !to.contains(&name) {
                to.push(name);
            }
        }
        for OpenCall { state, .. } in calls {
            if let CallState::Within(paused) = state {
                paused.collect_ran(to);
            }
        }
    }

    /// Returns the messages of the conversation that made a call: of a call within another one, those of the inner agent.
    pub fn messages_of(&self, id: &str) -> &[Message] {
        let within = id.split_once('/').and_then(|(first, rest)| {
            let open = self
                .0
                .calls
                .iter()
                .find(|open| segment(&open.call.id) == first)?;
            match &open.state {
                CallState::Within(paused) => Some(paused.messages_of(rest)),
                _ => None,
            }
        });
        within.unwrap_or(&self.0.messages)
    }

    /// Returns the step of the flow that it paused in.
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    pub(crate) fn at(mut self, position: Option<Position>) -> Self {
        self.0.position = position.or(self.0.position);
        self
    }
}

/// A call as it was before anything was decided.
fn undecided(open: &OpenCall) -> Value {
    let OpenCall { call, state } = open;
    let state = match state {
        CallState::Ended { message, failed } => json!([message, failed]),
        CallState::Approval(_) => json!("approval"),
        CallState::Answer(_) => json!("answer"),
        CallState::Within(paused) => json!(paused.id()),
        CallState::Asked(questions) => json!(["asked", questions.identity()]),
    };
    json!([call, state])
}

fn refused_decision(why: String) -> NodeError {
    NodeError::new(Category::ConfigError, why)
}

impl Conversation {
    pub(crate) fn messages_with_failures(&self) -> Vec<Message> {
        let mut messages = Vec::with_capacity(self.messages.len());
        for message in &self.messages {
            let is_failed = message
                .answers()
                .is_some_and(|id| self.failed.iter().any(|failed| failed == id));
            messages.push(if is_failed {
                message.clone().failed()
            } else {
                message.clone()
            });
        }
        messages
    }
}

/// How a conversation is stored.
#[derive(Serialize)]
pub(super) struct Form<'a> {
    pub(super) format: &'static str,
    pub(super) version: u64,
    #[serde(flatten)]
    pub(super) conversation: &'a Conversation,
}

impl Serialize for Paused {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Form {
            format: FORMAT,
            version: VERSION,
            conversation: &self.0,
        }
        .serialize(to)
    }
}

impl<'de> Deserialize<'de> for Paused {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(from)?.to_string();
        format::read(&json, FORMAT, VERSION)
            .map(Paused)
            .map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paused")
            .field("node", &self.0.node)
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

impl NodeError {
    /// Returns the conversation that waits, if a call ended as [`paused`](Category::Paused). If the call was in a
    /// flow, the conversation knows the step.
    pub fn paused(&self) -> Option<Paused> {
        let chain = std::iter::successors(Some(self as &(dyn Error + 'static)), |&error| {
            error.source()
        });
        let PausedError(paused) = chain.filter_map(|error| error.downcast_ref()).next()?;
        Some(paused.clone().at(self.position().cloned()))
    }
}

pub(crate) struct PausedError(pub(crate) Paused);

impl PausedError {
    pub(crate) fn message(&self) -> String {
        format!(
            "{self}; `error.paused()` returns the conversation; decide, then continue with `approve`"
        )
    }
}

impl Error for PausedError {}

impl fmt::Display for PausedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.0.waiting();
        for (index, call) in waiting.iter().take(8).enumerate() {
            let between = if index == 0 { "" } else { ", " };
            write!(f, "{between}`{}` ({})", call.name, call.id)?;
        }
        let more = waiting.len().saturating_sub(8);
        let wait = if waiting.len() == 1 { "waits" } else { "wait" };
        if more > 0 {
            write!(f, " and {more} more {wait}")
        } else {
            write!(f, " {wait}")
        }
    }
}

impl fmt::Debug for PausedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
