//! What happens in a run, told once, and who listens.
//!
//! Each happening is one variant of [`RunEvent`]. It is told in one place, by the
//! guard of the call that it happens to (`CallGuard::emit`), by the flow whose step
//! it is, or by the batch that its request waits for, to all who listen:
//!
//! | listener | what it is | what it takes |
//! |---|---|---|
//! | the journal | a [`Recorder`](super::Recorder) of the run | what a process needs that goes on after a crash |
//! | recordings | `record(..)` of a call, a map or a flow, and of all calls around it | what its page shows |
//! | hooks | `Run::on_attempt`, `Run::on_call` | `AttemptEnded`, `CallEnded` |
//! | watchers | `watch` and `on_step` of a flow, and of the flows around it | steps and the end of the flow |
//!
//! They are told in this order: what is lost in a crash must not have been shown,
//! and hooks, which are the program's own, may read all others. The ledger comes
//! before all of them, since it is no listener: the guards *are* its open records,
//! and an event about an end has the record that was committed. A span is none
//! either: it is entered around the code that it measures, so its guard holds it;
//! it ends with the same record.
//!
//! In which order they come is said at [`RunEvent`].
//!
//! A new event is a variant of it, emitted in one place by the guard that it happens to. The listeners that want it get an arm:
//! the journal in `crates/llmnode-flow/src/journal/recorder.rs`, with a record in `record.rs` beside it that older readers can pass by;
//! the page in `beyond/llmnode-page/src/collect.rs`; flows in `crates/llmnode-flow/src/flow/watchers.rs`; hooks of the program in
//! `hooks.rs`. All others pass it by. What the ledger and the spans show of it is a field of the record that is committed with it
//! (`record.rs`, `spans`), not an arm.
//!
//! To be awaited is the journal's alone (`Recorder::write`): a request that was not
//! written down could be paid twice. All others are told and not waited for, and
//! may be told from a destructor: a future that is dropped ends what it has begun.
//! So a listener returns at once, and a panic in it is logged and changes nothing.
//! In a journal it is a panic of the call, since a record would be missing.
//!
//! What costs something to make is made only if a listener asks: such fields are functions.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_model::internal::catch_panic;
use llmnode_model::{AttemptId, CallId, Category, Message, ProviderState, Request, ToolCall};
use serde_json::Value;

use super::compaction::{Compacted, Compaction};
use super::record::{AttemptRecord, CallRecord};
use super::step::StepRecord;
use crate::position::Position;

/// The call that an attempt belongs to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallInfo<'c> {
    /// Its id.
    pub id: CallId,
    /// The call that made this one through its [`Cx`](crate::Cx).
    pub parent: Option<CallId>,
    /// The node's name.
    pub node: &'c str,
    /// The path of the node's type, which tells nodes of the same name apart.
    pub path: &'c str,
    /// Its labels, with those of the calls around it and of the run.
    pub labels: &'c BTreeMap<String, String>,
}

/// Listens to what happens in calls and flows, beside the ledger. It is no part of
/// the run: its panics are logged under `llmnode::hook`, and it must not wait.
///
/// It is attached by `record(..)` of a call, a map or a flow. `Recording` of the
/// feature `page` implements it;
/// [`ext`](crate::ext) has a smaller example.
pub trait RunRecorder: Send + Sync {
    /// Takes an event, where it happens: in the middle of a call, or in a
    /// destructor. Events that it does not know are passed by, since there may be
    /// more of them in a later version.
    fn record(&self, event: &RunEvent<'_>);
}

/// How a run is set up.
#[allow(missing_docs, reason = "the fields say what they are")]
pub struct RunSetup {
    /// Names and ids, the default model first. A default has no name, and a model
    /// may not know its id.
    pub models: Vec<(Option<String>, Option<String>)>,
    /// In words, such as `"50 requests"`.
    pub limits: Vec<String>,
    /// The day that the list of prices was made.
    pub prices_made: Option<String>,
}

/// What an answer is found by in a journal.
#[allow(missing_docs, reason = "the fields say what they are")]
pub struct JournalKey {
    pub conversation: Arc<str>,
    pub request: Arc<str>,
    /// The model that was asked, if not the call's own.
    pub model: Option<String>,
    /// The names of the tools that were found for the question.
    pub found: Vec<String>,
    /// A chat's store takes the turn as soon as it is answered, so the answer has
    /// to be kept before that.
    pub of_chat: bool,
}

/// What happens in a run, told once to all who listen.
///
/// In a plain call, they come in this order:
///
/// ```text
/// Setup           with each call that a recording is attached to
/// CallBegan
///   ExecBegins    only where a node must not be executed twice             the journal is awaited
///   AttemptBegins for each request, once room for it is reserved           the journal is awaited, then the request goes out
///   Answered      the response is one that the conversation goes on with
///   AttemptEnded, or AttemptForgotten if the request did not leave         the journal is awaited
///   ToolEnded     for each call of a tool, as it has a result              the journal is awaited
///   FellBack      a fallback value took the place of an answer
/// CallEnded
/// ```
///
/// Answers that a journal has come as `Replayed`, without an attempt. Calls within
/// a call come between its begin and its end.
///
/// `flow` is the number of a flow that is recorded, unique in the process; 0 if it
/// is only watched. Fields that are functions cost something to make: call them
/// only if you need what they return.
#[allow(missing_docs, reason = "the fields say what they are")]
#[non_exhaustive]
pub enum RunEvent<'e> {
    /// Comes with each call that a recorder is attached to: a recorder needs it
    /// once, so it is only made on demand.
    Setup(&'e dyn Fn() -> RunSetup),
    /// A flow begins. `outline`: the JSON of its outline. `around`: the position of
    /// the step that it runs within, if it does. `continues`: it paused before, and
    /// goes on.
    FlowBegan {
        flow: u64,
        continues: bool,
        name: &'e str,
        outline: &'e dyn Fn() -> Value,
        around: Option<Position>,
        started: SystemTime,
    },
    /// A step begins. Its prep is next.
    StepBegan {
        flow: u64,
        position: &'e Position,
        node: &'e str,
        started: SystemTime,
    },
    /// The text of the state before the first step, and after each, if there is
    /// one. It comes before the step's end.
    FlowState {
        flow: u64,
        text: &'e dyn Fn() -> Option<String>,
    },
    /// A step has ended: with an action, an error, or because the flow was dropped.
    /// `edges`: the steps and nested flows that were left, and by which action.
    /// `next`: `None` at the end of the flow. `flow_elapsed`: since the flow began.
    StepEnded {
        flow: u64,
        step: &'e StepRecord,
        edges: &'e [(Position, String)],
        next: Option<&'e Position>,
        flow_elapsed: Duration,
    },
    /// A flow has ended, in whatever way. `position`: where, unless it ended with
    /// an action. `error`: its text. `None`: it was dropped, or ended with an
    /// action.
    FlowEnded {
        flow: u64,
        steps: u64,
        position: Option<&'e Position>,
        category: Option<Category>,
        error: Option<&'e dyn Display>,
        /// The text of the state that it ended with, if there is one.
        output: &'e dyn Fn() -> Option<String>,
        elapsed: Duration,
    },
    /// A call begins. Told only if a recorder is attached to it or to a call around
    /// it. `at`: the step of a flow that it is, or is within. `item`: its index in
    /// a map.
    CallBegan {
        call: CallInfo<'e>,
        flow: Option<u64>,
        at: &'e dyn Fn() -> Option<Position>,
        item: Option<u32>,
        started: SystemTime,
    },
    /// A node that must not be executed twice is about to be executed.
    ExecBegins { call: CallInfo<'e> },
    /// A request is about to go out. `request`: `None` if it is no chat. One that
    /// waits for a batch is told with each order that it goes into, and when it
    /// leaves; if a later process is to read its answer, no end of it is told here.
    AttemptBegins {
        call: CallInfo<'e>,
        attempt: &'e AttemptRecord,
        request: Option<&'e Request>,
    },
    /// A response with which the conversation goes on, or that a later process must
    /// not ask for again. Its attempt ends after it.
    Answered {
        call: CallId,
        attempt: AttemptId,
        answer: AnswerEvent<'e>,
    },
    /// An attempt has ended, in whatever way, and is in the ledger. `continues`:
    /// nobody waits for it any more, but the provider answers it all the same, and
    /// a later process reads that.
    AttemptEnded {
        call: CallInfo<'e>,
        attempt: &'e AttemptRecord,
        continues: bool,
    },
    /// The request did not go out after all.
    AttemptForgotten(AttemptId),
    /// A journal had the answer to a request.
    Replayed {
        call: CallId,
        messages: &'e [Message],
        text: &'e str,
        calls: &'e [ToolCall],
    },
    /// The conversation of a request is about to be compacted, and the request to
    /// go out. Only a journal needs it.
    CompactionPlanned {
        conversation: &'e str,
        request: &'e str,
        compaction: &'e Compaction,
    },
    /// The conversation of a call was compacted, now or as its journal says: what
    /// was replaced is not sent any more.
    Compacted {
        call: CallId,
        compacted: &'e Compacted,
    },
    /// A call of a tool has its result, or waits for one. `arguments`: those that a
    /// person wrote in place of the model's. `by`: the call of the tool's node.
    /// `executed`: the tool gave the result, and not a person. `conversation`: by
    /// which a journal finds it.
    ToolEnded {
        call: CallInfo<'e>,
        tool: &'e ToolCall,
        arguments: Option<&'e str>,
        result: Option<&'e Message>,
        by: Option<CallId>,
        executed: bool,
        conversation: Option<&'e str>,
    },
    /// A fallback value took the place of an answer. `value`: its text, if its type
    /// can be serialized.
    FellBack {
        call: CallId,
        value: &'e dyn Fn() -> Option<String>,
    },
    /// The call has ended, in whatever way.
    CallEnded {
        call: CallInfo<'e>,
        record: &'e Arc<CallRecord>,
        error: Option<&'e dyn Display>,
    },
    /// A batch is about to be sent, with these lines. Batches belong to no call:
    /// only their journal is told.
    BatchPlanned {
        name: &'e str,
        api: &'e str,
        model: &'e str,
        lines: &'e [Arc<str>],
    },
    /// Its file is uploaded.
    BatchUploaded { name: &'e str, file: &'e str },
    /// It is created, under this id of the provider's.
    BatchCreated { name: &'e str, batch: &'e str },
    /// Its time was over, and the provider has taken its cancel.
    BatchCancelled { name: &'e str },
    /// It was read to its end, or was never created: then none of its requests was made.
    BatchEnded { name: &'e str, was_created: bool },
}

/// A response, as listeners are told of it.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the fields say what they are")]
pub struct AnswerEvent<'e> {
    /// `None`: there is no journal.
    pub key: Option<&'e JournalKey>,
    /// A batch gave it, so that a rejected one is kept, too.
    pub in_batch: bool,
    pub text: &'e str,
    /// The tools that it calls.
    pub calls: &'e [ToolCall],
    /// What the provider put beside them.
    pub carried: Option<&'e Arc<ProviderState>>,
    /// Whether the conversation goes on behind it: after its calls, or after a turn
    /// that the provider paused.
    pub is_round: bool,
    /// Whether it was accepted, and is not asked for again.
    pub accepted: bool,
}

impl<'e> RunEvent<'e> {
    /// The name of the node that it happens to, where an event has one.
    pub(super) fn node(&self) -> Option<&'e str> {
        match self {
            RunEvent::CallBegan { call, .. }
            | RunEvent::ExecBegins { call }
            | RunEvent::AttemptBegins { call, .. }
            | RunEvent::AttemptEnded { call, .. }
            | RunEvent::ToolEnded { call, .. }
            | RunEvent::CallEnded { call, .. } => Some(call.node),
            _ => None,
        }
    }
}

/// A panic of a recorder does not affect the run.
pub(crate) fn record(recorder: &dyn RunRecorder, event: &RunEvent<'_>) {
    if let Err(message) = catch_panic(|| recorder.record(event)) {
        tracing::error!(target: "llmnode::hook", "the recording of a run panicked: {message}");
    }
}
