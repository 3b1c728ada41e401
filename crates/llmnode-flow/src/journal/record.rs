//! The records of a journal.

use std::fmt;

use llmnode_runtime::ext::Compaction;
use llmnode_runtime::{
    AttemptId, AttemptRecord, CallId, CallRecord, Message, ProviderState, ToolCall,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::flow::{Outline, Position};

/// One record of a journal, which serde can write and read. Its `Debug` form shows no content.
/// [`History`](super::History) sums up the records of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Record(pub(super) Entry);

impl Record {
    /// Returns what it records: `"started"`, `"map_started"`, `"resumed"`,
    /// `"call_began"`, `"attempt_began"`, `"attempt_ended"`, `"attempt_forgotten"`,
    /// `"answered"`, `"tool_ended"`, `"call_ended"`, `"stepped"`,
    /// `"batch_planned"`, `"batch_uploaded"`, `"batch_created"`,
    /// `"batch_cancelled"`, `"batch_ended"` or `"compacted"`, as its JSON names it.
    /// Further ones may come. The end of an attempt whose answer is kept is in
    /// `answered`.
    ///
    /// A journal that syncs some of its records to the disk needs `started`,
    /// `map_started`, `call_began` and `stepped` there: without them a step, or a
    /// node that must not be executed again, may be executed twice after a crash of
    /// the machine. Without `answered`, a map may ask for an answer that was paid
    /// for already, and without `batch_planned`, `batch_uploaded` and
    /// `batch_created` for a whole batch.
    pub fn kind(&self) -> &'static str {
        match &self.0 {
            Entry::Answered(_) => "answered",
            Entry::Compacted(_) => "compacted",
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
            Entry::BatchPlanned(_) => "batch_planned",
            Entry::BatchUploaded(_) => "batch_uploaded",
            Entry::BatchCreated(_) => "batch_created",
            Entry::BatchCancelled(_) => "batch_cancelled",
            Entry::BatchEnded(_) => "batch_ended",
        }
    }
}

impl Entry {
    /// Without a vital record, a resumed run would repeat what was done. Without
    /// the others only figures are missing.
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

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Answered(Answered),
    /// Written before the request goes out whose conversation it is.
    Compacted(Compacted),
    ToolEnded(Box<ToolEnded>),
    Started(Started),
    /// The first record of a map's journal; version 2 had none.
    MapStarted(MapStarted),
    Resumed(Resumed),
    /// Only of a node with `idempotent = false`.
    CallBegan(CallBegan),
    /// Written before the request goes out.
    AttemptBegan(Box<AttemptBegan>),
    /// Of an attempt without an answer that is kept.
    AttemptEnded(Box<AttemptRecord>),
    /// The request of an attempt did not go out after all.
    AttemptForgotten(AttemptId),
    CallEnded(Box<CallEnded>),
    Stepped(Stepped),
    /// Written before anything of a batch is sent. The attempts of its lines follow.
    BatchPlanned(BatchPlanned),
    BatchUploaded(BatchUploaded),
    BatchCreated(BatchCreated),
    /// Its time was over.
    BatchCancelled(BatchCancelled),
    /// All of its lines that were asked for have an end in the journal, or the
    /// provider never took it.
    BatchEnded(BatchEnded),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BatchPlanned {
    pub(super) name: String,
    pub(super) model: String,
    pub(super) api: String,
    pub(super) unix_ms: u64,
    /// The ids of its lines.
    pub(super) keys: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BatchUploaded {
    pub(super) name: String,
    pub(super) file: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BatchCreated {
    pub(super) name: String,
    /// The provider's id.
    pub(super) batch: String,
    pub(super) unix_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BatchCancelled {
    pub(super) name: String,
    pub(super) unix_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BatchEnded {
    pub(super) name: String,
    /// If not, none of its requests was made.
    pub(super) was_created: bool,
}

/// Its `Debug` form shows no content.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Answered {
    /// The hash of the request.
    pub(super) request: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<CallId>,
    pub(super) answer: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<ToolCall>,
    /// What the provider put beside them, in a turn after which the conversation goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) carried: Option<ProviderState>,
    /// What the provider put beside an answer. Older versions did not keep it, and
    /// take what is above for a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) carried_by_answer: Option<ProviderState>,
    /// The model, if it is not the call's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) rejected: bool,
    /// The names of the tools that were found for the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) found: Vec<String>,
    /// A chat's store takes the turn next. It is not kept: a replay writes no record of it.
    #[serde(skip)]
    pub(super) of_chat: bool,
    /// The end of the attempt that got it, in one record, so that no crash comes
    /// between. Up to version 4 it was the next record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attempt: Option<Box<AttemptRecord>>,
}

/// Its `Debug` form shows no content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Compacted {
    pub(super) conversation: String,
    /// The hash of the request as it was before.
    pub(super) request: String,
    pub(super) compaction: Compaction,
}

/// Its `Debug` form shows no content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ToolEnded {
    pub(super) conversation: String,
    /// The hash of the tool call.
    pub(super) call: String,
    /// The call whose model called the tool; `None` if the tool was not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<Box<Caller>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<CallId>,
    pub(super) result: Message,
    /// The tool failed, which the JSON of a message does not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) failed: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Caller {
    pub(super) id: CallId,
    pub(super) node: String,
    /// The path of the node's type, as in all records.
    #[serde(rename = "type")]
    pub(super) path: String,
}

impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Answered {{ request: {:?}, answer: {} bytes }}",
            self.request,
            self.answer.len()
        )
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Started {
    pub(super) id: String,
    pub(super) outline: Outline,
    pub(super) at: Position,
    /// `None`: a rewrite dropped it, since that of a later step is kept.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) state: Option<Json>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MapStarted {
    pub(super) id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Resumed {
    /// Whether it executes again what may have been executed.
    pub(super) rerun: bool,
    /// Whether the answers so far belong to other requests than those of now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) drops_answers: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CallBegan {
    pub(super) id: CallId,
    pub(super) node: String,
    #[serde(rename = "type")]
    pub(super) path: String,
    pub(super) at: Position,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AttemptBegan {
    pub(super) node: String,
    #[serde(rename = "type")]
    pub(super) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<CallId>,
    pub(super) at: Position,
    pub(super) unix_ms: u64,
    pub(super) attempt: AttemptRecord,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CallEnded {
    #[serde(rename = "type")]
    pub(super) path: String,
    /// Without the attempts, which have records of their own.
    pub(super) call: CallRecord,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stepped {
    /// The position before the step; empty if the flow begins with it.
    pub(super) left: Position,
    /// The next step; if the flow has ended, the last one.
    pub(super) at: Position,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) state: Option<Json>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
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

    pub(super) fn get(&self) -> &str {
        self.0.get()
    }
}

/// Serde reads `null` as `None`, but an action `()` or `None` is also written as
/// `null`, and the flow has ended.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({} bytes)", self.get().len())
    }
}
