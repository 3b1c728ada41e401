//! What happens during the calls of a flow, and who observes it.

use std::borrow::Cow;

use llmnode_model::{Category, ToolCall};

use crate::ledger::{RunEvent, UsageSum};

/// What happens while an answer is written: see [`Call::stream`](crate::Call::stream).
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Event, NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new().reply("[4, 8]"));
/// let mut stream = run.extract::<Vec<u8>>("four, then eight").stream();
/// let mut text = String::new();
/// while let Some(event) = stream.next().await {
///     if let Event::Text(more) = event {
///         text += &more; // for a terminal or a socket
///     }
/// }
/// assert_eq!((text.as_str(), stream.finish().await?), ("[4, 8]", vec![4, 8]));
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The next text of the answer.
    Text(String),
    /// The next text of the model's reasoning, which is not part of the answer.
    Reasoning(String),
    /// The model calls tools. The text before it was not the answer, which follows
    /// in a later response.
    ToolCalls(Vec<ToolCall>),
    /// A tool has ended.
    #[non_exhaustive]
    ToolResult {
        /// The id of the call.
        id: String,
        /// What came of it, such as `ok`: see [`ToolRecord::outcome`](crate::ToolRecord::outcome).
        outcome: Cow<'static, str>,
    },
    /// The request failed, and another one has begun; or the server ended its
    /// answer with another text than it began with, which follows. The text since
    /// the last `Restarted` or `ToolCalls` is void.
    #[non_exhaustive]
    Restarted {
        /// Why the last request failed. `bad_response`: the same request goes on with another text.
        category: Category,
        /// Which attempt begins, counted from 0.
        attempt: u32,
    },
}

/// Observes a step of a flow, and all that is called within it.
pub trait Observer: Sync {
    /// Whether somebody reads answers while they are written.
    fn listens(&self) -> bool;

    /// Called when something happened to the answer of a call. `calls`: the names
    /// of the calls around it, the outermost first, and its own.
    fn event(&self, calls: &[String], event: &Event);

    /// Called when something happened to a flow within the call of these names,
    /// such as the end of a step.
    fn step(&self, calls: &[String], event: &RunEvent<'_>);
}

/// What all calls within a step of a flow have in common.
#[derive(Clone, Copy)]
pub struct FlowContext<'r> {
    /// Adds up the usage of their attempts.
    pub usage_sum: &'r UsageSum<'r>,
    /// Observes them.
    pub observer: Option<&'r dyn Observer>,
    /// The number of the flow for recorders, unique in the process; 0 if there are none.
    pub number: u64,
}
