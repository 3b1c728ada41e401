//! The interface to a recording of a run, for people who look at it later.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use llmnode_model::internal::catch_panic;
use llmnode_model::{AttemptId, CallId, Category, Message, Request, ToolCall};
use serde_json::Value;

use super::compaction::Compacted;
use super::record::{AttemptRecord, CallRecord};
use super::recorder::CallInfo;
use super::usage::Usage;
use crate::position::Position;

/// Records what happens in calls and flows, beside the ledger. It is no part of the run: its panics are logged under
/// `llmnode::hook`, and it must not wait.
///
/// `Recording` of the feature `page` implements it.
pub trait RunRecorder: Send + Sync {
    /// Records an event, where it happens.
    #[doc(hidden)]
    fn record(&self, event: &RunEvent<'_>);
}

/// How a run is set up.
#[allow(missing_docs, reason = "the fields say what they are")]
pub struct RunSetup {
    /// Names and ids, the default model first. A default has no name, and a model may not know its id.
    pub models: Vec<(Option<String>, Option<String>)>,
    /// In words, such as `"50 requests"`.
    pub limits: Vec<String>,
    /// The day that the list of prices was made.
    pub prices_made: Option<String>,
}

/// What happens in a run. `flow` is the number of a flow that is recorded, unique in the process.
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum RunEvent<'e> {
    /// Comes with each call that a recorder is attached to: a recorder needs it once, so it is only made on demand.
    Setup(&'e dyn Fn() -> RunSetup),
    /// `outline`: the JSON of the flow's outline. `around`: the position of the step that it runs within, if it does. `continues`: it
    /// paused before, and goes on.
    FlowBegan {
        flow: u64,
        continues: bool,
        name: &'e str,
        outline: &'e dyn Fn() -> Value,
        around: Option<Position>,
        started: SystemTime,
    },
    StepBegan {
        flow: u64,
        position: &'e Position,
        node: &'e str,
        started: SystemTime,
    },
    /// The text of the state before the first step, and after each, if there is one. It comes before the step's end.
    FlowState {
        flow: u64,
        text: &'e dyn Fn() -> Option<String>,
    },
    /// `edges`: the steps and nested flows that were left, and by which action.
    StepEnded {
        flow: u64,
        edges: &'e [(Position, String)],
        category: Option<Category>,
        usage: Usage,
        elapsed: Duration,
    },
    /// `error`: its text. `None`: the flow was dropped, or ended with an action.
    FlowEnded {
        flow: u64,
        position: Option<&'e Position>,
        category: Option<Category>,
        error: Option<&'e dyn Display>,
        /// The text of the state that it ended with, if there is one.
        output: &'e dyn Fn() -> Option<String>,
        elapsed: Duration,
    },
    CallBegan {
        call: CallInfo<'e>,
        flow: Option<u64>,
        at: Option<Position>,
        item: Option<u32>,
        started: SystemTime,
    },
    /// A request is about to go out.
    RequestBegan {
        attempt: AttemptId,
        request: &'e Request,
    },
    /// A journal had the answer to a request.
    Replayed {
        call: CallId,
        messages: &'e [Message],
        text: &'e str,
        calls: &'e [ToolCall],
    },
    /// The conversation of a call was compacted: what was replaced is not sent any more.
    Compacted {
        call: CallId,
        compacted: &'e Compacted,
    },
    /// The answer of an attempt calls tools. The attempt ends after it.
    ToolsCalled {
        attempt: AttemptId,
        calls: &'e [ToolCall],
    },
    AttemptEnded(&'e AttemptRecord),
    /// `arguments`: those that a person wrote in place of the model's.
    ToolEnded {
        call: CallId,
        tool: &'e ToolCall,
        arguments: Option<&'e str>,
        result: Option<&'e Message>,
    },
    /// A fallback value took the place of an answer. `value`: its text, if its type can be serialized.
    FellBack {
        call: CallId,
        value: &'e dyn Fn() -> Option<String>,
    },
    CallEnded {
        record: &'e Arc<CallRecord>,
        error: Option<&'e dyn Display>,
    },
}

/// A panic of a recorder does not affect the run.
pub(crate) fn record(recorder: &dyn RunRecorder, event: &RunEvent<'_>) {
    if let Err(message) = catch_panic(|| recorder.record(event)) {
        tracing::error!(target: "llmnode::hook", "the recording of a run panicked: {message}");
    }
}
