//! What a flow did: the path that it took, and what each step took.

use std::time::Duration;

use llmnode_runtime::internal::{Position, add_usage, milliseconds};
use llmnode_runtime::{Category, Usage};
use serde::{Deserialize, Serialize};

use super::outline::Outline;

/// What a flow did up to some moment, however many steps it took: the newest of them, and figures for all.
///
/// [`mermaid`](FlowRecord::mermaid) and [`dot`](FlowRecord::dot) draw it.
///
/// As JSON it begins with `"format": "llmnode/flow-record", "version": 2`, and has no prompts and answers; times are in
/// milliseconds. [`from_json`](FlowRecord::from_json) reads it back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FlowRecord {
    /// What the flow looks like.
    pub outline: Outline,
    /// Where it stands; `None`: it has ended with an action.
    pub position: Option<Position>,
    /// What ended it, if it has ended without an action.
    pub category: Option<Category>,
    /// How many steps it took, one that failed included.
    pub taken: u64,
    /// The newest 256 of these, oldest first.
    pub path: Vec<StepRecord>,
    /// The figures of each step that was taken, in the order in which each was first.
    pub steps: Vec<StepStats>,
    /// How often each edge was taken, in the order in which each was first: the step, or nested flow, that it leaves, and its
    /// action, which is empty for a plain arrow.
    pub edges: Vec<(Position, String, u64)>,
    /// From the begin of the flow to its end, or to this moment.
    pub elapsed: Duration,
}

impl FlowRecord {
    /// What all steps used together.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.steps.iter().for_each(|step| add_usage(&mut usage, &step.usage));
        usage
    }
}

/// One step that was taken: a node from its prep to its post.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepRecord {
    /// Which step.
    pub position: Position,
    /// The name of the node that stands there.
    pub node: String,
    /// The edge that it took, by its action; empty for a plain arrow, and if it took none.
    pub action: String,
    /// What went wrong; `None`: it ended with an action.
    pub category: Option<Category>,
    /// What the requests beneath it used, those of nodes that its node called included.
    pub usage: Usage,
    /// What these requests took, from the begin of each to the judgement on its answer. Side by side they add up.
    #[serde(rename = "asking_ms", with = "milliseconds")]
    pub asking: Duration,
    /// From its begin to its end.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
}

/// The figures of a step over all its visits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepStats {
    /// Which step.
    pub position: Position,
    /// The name of the node that stands there.
    pub node: String,
    /// How often it was taken.
    pub visits: u64,
    /// How often it ended without an action.
    pub failures: u64,
    /// What the requests beneath it used.
    pub usage: Usage,
    /// What these requests took. Side by side they add up.
    #[serde(rename = "asking_ms", with = "milliseconds")]
    pub asking: Duration,
    /// From begin to end, added up.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
}
