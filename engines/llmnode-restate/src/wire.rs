//! What goes over HTTP: a run's status, decisions, and what came of it.

use std::collections::BTreeMap;

use llmnode::flow::Position;
use llmnode::{Approval, Usage, WaitingCall};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a run is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// Restate's id of it, for its page and its command line.
    pub invocation: String,
    /// The step that is next; empty at the start.
    pub at: Position,
    /// How many steps are completed.
    pub steps: u64,
    /// How often it has waited for people. A decision names this number, so that
    /// none is taken for another wait.
    pub wait: u64,
    /// Calls of tools that wait for a [`Decision`] now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingCall>,
    /// A node with `idempotent = false` that may have been executed or not. The run
    /// waits for [`rerun`](crate::Client::rerun) or
    /// [`happened`](crate::Client::happened).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<InDoubt>,
    /// Why the last decision could not be used, so that the run waits again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Why the step under way is being tried again, or was, such as a model that is
    /// away: the first such failure of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What it spent by the wait, or by one of the last steps: by the last one up
    /// to 16 steps, by one of the last seven of 100.
    pub usage: Usage,
    /// Of `usage`, the requests whose outcome is unknown, because a worker died.
    pub unknown: u64,
    /// It has ended: [`result`](crate::Client::result) says how.
    pub ended: bool,
}

/// A node with `idempotent = false` that may have been executed or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InDoubt {
    /// The node's name.
    pub node: String,
    /// The step it belongs to.
    pub at: Position,
}

/// What is decided about the calls that wait. Each of them needs a decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    wait: u64,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    calls: BTreeMap<String, Approval>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    results: BTreeMap<String, Value>,
}

impl Decision {
    /// Creates a decision on what waits by this status; nothing is decided yet.
    pub fn on(status: &Status) -> Self {
        Decision {
            wait: status.wait,
            ..Decision::default()
        }
    }

    /// Creates a decision that is the same for all calls that wait for an approval.
    pub fn all(status: &Status, approval: Approval) -> Self {
        let waiting = status
            .waiting
            .iter()
            .filter(|call| !call.wants_result && call.question.is_none());
        waiting.fold(Decision::on(status), |decision, call| {
            decision.call(&call.id, approval.clone())
        })
    }

    /// Decides one call, by the id of [`Status::waiting`].
    #[must_use]
    pub fn call(mut self, id: impl Into<String>, approval: Approval) -> Self {
        self.calls.insert(id.into(), approval);
        self
    }

    /// Sets the result of a tool without a body, or the answer to a tool's question.
    #[must_use]
    pub fn answer(mut self, id: impl Into<String>, result: impl Into<Value>) -> Self {
        self.results.insert(id.into(), result.into());
        self
    }

    pub(crate) fn parts(self) -> (BTreeMap<String, Approval>, BTreeMap<String, Value>) {
        (self.calls, self.results)
    }

    /// Whether nothing is left to say about the call.
    fn decides(&self, call: &WaitingCall) -> bool {
        let is_answered = self.results.contains_key(&call.id);
        let approval = self.calls.get(&call.id);
        let is_decided = approval.is_some_and(|approval| *approval != Approval::later());
        match (call.wants_result, &call.question) {
            (true, _) => is_answered,
            // A question is answered or refused: a yes says nothing to it.
            (false, Some(_)) => is_answered || (is_decided && approval != Some(&Approval::yes())),
            (false, None) => is_decided,
        }
    }

    /// Why it is no decision on what waits.
    pub(crate) fn fault(&self, status: &Status) -> Option<String> {
        if let Some(fault) = not_now(self.wait, status, status.waiting.is_empty(), "a decision") {
            return Some(fault);
        }
        let ids: Vec<&str> = status.waiting.iter().map(|call| &*call.id).collect();
        let undecided = status.waiting.iter().find(|call| !self.decides(call));
        if let Some(call) = undecided {
            let kind = match (call.wants_result, &call.question) {
                (true, _) => "a result",
                (false, Some(_)) => "an answer",
                (false, None) => "an approval",
            };
            return Some(format!(
                "{:?} waits for {kind}; these wait: {}",
                call.id,
                ids.join(", ")
            ));
        }
        let mut named = self.calls.keys().chain(self.results.keys());
        let other = named.find(|id| !ids.contains(&id.as_str()))?;
        Some(format!(
            "{other:?} does not wait; these wait: {}",
            ids.join(", ")
        ))
    }
}

/// What happened to the node that is in doubt. Without an output, it is executed again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Settled {
    pub(crate) wait: u64,
    /// `Some(null)` is an output, too.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) output: Option<Value>,
}

fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Settled {
    pub(crate) fn fault(&self, status: &Status) -> Option<String> {
        not_now(
            self.wait,
            status,
            status.in_doubt.is_none(),
            "what happened",
        )
    }
}

fn not_now(wait: u64, status: &Status, nothing: bool, what: &str) -> Option<String> {
    if status.ended {
        return Some("the run has ended".to_owned());
    }
    if nothing {
        return Some(format!(
            "the run does not wait for {what}; it is at {}",
            status.at
        ));
    }
    (wait != status.wait)
        .then(|| format!("that is for wait {wait}, and this is wait {}", status.wait))
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome<S, A = ()> {
    /// The state at the end.
    pub state: S,
    /// The flow's action.
    pub action: A,
    /// What was spent, in all processes.
    pub usage: Usage,
    /// Of `usage`, the requests whose outcome is unknown, because a worker died.
    pub unknown: u64,
}

/// The name of Restate's service.
pub(crate) const SERVICE: &str = "Llmnode";

/// Why this is no name of a flow or id of a run.
pub(crate) fn bad_name(name: &str) -> Option<String> {
    let fits = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    (!fits).then(|| {
        let shown: String = name.chars().take(80).collect();
        format!("{shown:?} is no name: up to 64 letters, digits, `-` and `_`")
    })
}
