//! The record of a flow: its path, and the time and usage of each step.

use std::time::Duration;

use llmnode_runtime::ext::{Position, StepRecord, milliseconds};
use llmnode_runtime::{Category, Usage};
use serde::{Deserialize, Serialize};

use super::outline::Outline;

/// What a flow did up to some moment: its newest steps, and figures for all of them.
///
/// [`mermaid`](FlowRecord::mermaid) draws it.
///
/// As JSON it begins with `"format": "llmnode/flow-record", "version": 2`. It
/// contains no prompts and answers. Times are in milliseconds.
/// [`from_json`](FlowRecord::from_json) reads it back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowRecord {
    /// The outline of the flow.
    pub outline: Outline,
    /// The position of the flow. `None`: it has ended with an action.
    pub position: Option<Position>,
    /// What ended it, if it has ended without an action.
    pub category: Option<Category>,
    /// How many steps it took, including one that failed.
    pub taken: u64,
    /// The newest 256 steps, oldest first.
    pub path: Vec<StepRecord>,
    /// The figures of each step that was taken, in the order of their first visits.
    pub steps: Vec<StepStats>,
    /// How often each edge was taken, in the order of their first use: the step or
    /// nested flow that it leaves, and its action, which is empty for a plain
    /// arrow.
    pub edges: Vec<(Position, String, u64)>,
    /// The time from the start of the flow to its end, or to this moment.
    pub elapsed: Duration,
}

impl FlowRecord {
    /// Returns what all steps used together.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.steps.iter().for_each(|step| usage += step.usage);
        usage
    }
}

/// The figures of a step over all its visits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepStats {
    /// The position of the step.
    pub position: Position,
    /// The name of its node.
    pub node: String,
    /// How often it was taken.
    pub visits: u64,
    /// How often it ended without an action.
    pub failures: u64,
    /// What its requests used, including those of nodes that its node called.
    pub usage: Usage,
    /// The time of these requests. The times of concurrent requests add up.
    #[serde(rename = "asking_ms", with = "milliseconds")]
    pub asking: Duration,
    /// The time from start to end, added up.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
}
