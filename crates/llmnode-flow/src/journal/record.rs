//! The records of a journal.

use std::fmt;

use llmnode_runtime::{AttemptId, AttemptRecord, CallId, CallRecord, Message, ToolCall};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::flow::{Outline, Position};

/// One record of a journal, which serde can write and read. Its `Debug` form shows no content.
/// [`History`](super::History) sums up the records of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Record(pub(super) Entry);

impl Record {
    /// Returns what it records: `"started"`, `"map_started"`, `"resumed"`, `"call_began"`, `"attempt_began"`,
    /// `"attempt_ended"`, `"attempt_forgotten"`, `"answered"`, `"tool_ended"`, `"call_ended"` or `"stepped"`, as its
    /// JSON names it. Further ones may come.
    ///
    /// A journal that syncs some of its records to the disk needs `started`, `map_started`, `call_began` and `stepped` there:
    /// without them a step, or a node that must not be executed again, may be executed twice after a crash of the machine.
    /// Without `answered`, a map may ask for an answer that was paid for already.
    pub fn kind(&self) -> &'static str {
        match &self.0 {
            Entry::Answered(_) => "answered",
            Entry::ToolEnded(_) => "tool_ended",
            Entry::Started(_) => "started",
            Entry::MapStarted(_) => "map_started",
            Entry::Resumed(_) => "resumed",
            Entry::CallBegan(_) => "call_began",
            Entry::AttemptBegan(_) => "attempt_began",
            Entry::AttemptEnded(_) => "attempt_ended",
            Entry::AttemptForgotten(_) => "attempt_forgotten",
            Entry::CallEnded(_) => "call_ended",
            Entry::Stepped(_) => "stepped",
        }
    }
}

impl Entry {
    /// Whether a run that continues without it would do again what was done. Else only figures are missing.
    pub(super) fn is_vital(&self) -> bool {
        !matches!(
            self,
            Entry::AttemptBegan(_)
                | Entry::AttemptEnded(_)
                | Entry::AttemptForgotten(_)
                | Entry::CallEnded(_)
        )
    }
}

impl From<Entry> for Record {
    fn from(entry: Entry) -> Self {
        Record(entry)
    }
}

/// What a record says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A request was answered.
    Answered(Answered),
    /// A call of a tool has its result.
    ToolEnded(Box<ToolEnded>),
    /// A flow has started. The first record of its journal.
    Started(Started),
    /// A map has started. The first record of its journal; version 2 had none.
    MapStarted(MapStarted),
    /// Another process goes on.
    Resumed(Resumed),
    /// A call has begun of a node that must not be executed again.
    CallBegan(CallBegan),
    /// A request is about to go out.
    AttemptBegan(Box<AttemptBegan>),
    /// An attempt has ended, whatever way.
    AttemptEnded(Box<AttemptRecord>),
    /// The request of an attempt did not go out after all.
    AttemptForgotten(AttemptId),
    /// A call has ended, whatever way.
    CallEnded(Box<CallEnded>),
    /// A step is completed.
    Stepped(Stepped),
}

/// A request was answered. Its `Debug` form shows no content.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Answered {
    /// What tells the request from others of its conversation.
    pub(super) request: String,
    /// The conversation that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conversation: Option<String>,
    /// The call that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<CallId>,
    /// What the model wrote.
    pub(super) answer: String,
    /// The tools that it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<ToolCall>,
    /// The model that gave it in place of the call's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// It was not accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) rejected: bool,
}

/// A call of a tool has its result. Its `Debug` form shows no content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ToolEnded {
    pub(super) conversation: String,
    /// What tells the call from others of its conversation.
    pub(super) call: String,
    /// The call whose model called it, if the tool was executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<Box<Caller>>,
    /// The call of the tool's node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<CallId>,
    pub(super) result: Message,
    /// The tool failed, which the JSON of a message does not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) failed: bool,
}

/// A call whose model called a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Caller {
    pub(super) id: CallId,
    /// The node's name.
    pub(super) node: String,
    /// The path of the node's type.
    #[serde(rename = "type")]
    pub(super) path: String,
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answered {{ request: {:?}, answer: {} bytes }}", self.request, self.answer.len())
    }
}

/// A flow has started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Started {
    /// What tells this run of the flow from all others.
    pub(super) id: String,
    /// What the flow looks like.
    pub(super) outline: Outline,
    /// Where it starts.
    pub(super) at: Position,
    /// The state it starts on; `None`: that of a later step is kept instead.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<Json>,
}

/// A map has started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MapStarted {
    /// What tells the journal from all others.
    pub(super) id: String,
}

/// Another process goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Resumed {
    /// Whether it executes again what may have been executed.
    pub(super) rerun: bool,
}

/// A call has begun of a node that must not be executed again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CallBegan {
    /// The call.
    pub(super) id: CallId,
    /// The node's name.
    pub(super) node: String,
    /// The path of the node's type.
    #[serde(rename = "type")]
    pub(super) path: String,
    /// The step under way.
    pub(super) at: Position,
}

/// A request is about to go out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AttemptBegan {
    /// The node's name.
    pub(super) node: String,
    /// The path of the node's type.
    #[serde(rename = "type")]
    pub(super) path: String,
    /// The call that made the call of the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<CallId>,
    /// The step under way.
    pub(super) at: Position,
    /// When, by the machine's clock.
    pub(super) unix_ms: u64,
    /// What is known so far.
    pub(super) attempt: AttemptRecord,
}

/// A call has ended, whatever way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CallEnded {
    /// The path of the node's type.
    #[serde(rename = "type")]
    pub(super) path: String,
    /// Its record without the attempts, which have records of their own.
    pub(super) call: CallRecord,
}

/// A step is completed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stepped {
    /// The step, as far as it was known before it began: a flow that begins stands at no step yet.
    pub(super) left: Position,
    /// The step that is next; where the flow ended, the last one.
    pub(super) at: Position,
    /// The state after it; `None`: that of a later step is kept instead.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<Json>,
    /// What the flow decided, if it has ended.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) action: Option<Json>,
}

/// A value as JSON. Its `Debug` form shows no content.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Json(Box<RawValue>);

impl Json {
    pub(super) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Json)
    }

    /// The text.
    pub(super) fn get(&self) -> &str {
        self.0.get()
    }
}

/// Reads a value that is there. Serde takes a `null` for `None`, yet it is what `()` and `None` are written as: a flow
/// whose action is one of these has ended all the same.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({} bytes)", self.get().len())
    }
}
