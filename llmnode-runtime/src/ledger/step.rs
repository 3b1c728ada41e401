//! The record of a step of a flow.

use std::time::{Duration, SystemTime};

use llmnode_model::Category;
use serde::{Deserialize, Serialize};

use super::milliseconds;
use super::usage::Usage;
use crate::position::Position;

/// One step that was taken, from its prep to its post.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepRecord {
    /// The position of the step.
    pub position: Position,
    /// The name of its node.
    pub node: String,
    /// The action of the edge that it took. Empty for a plain arrow, and if it took none.
    pub action: String,
    /// What went wrong; `None`: it ended with an action.
    pub category: Option<Category>,
    /// When it began, by the machine's clock. `None` in records of older versions.
    #[serde(
        rename = "started_unix_ms",
        with = "milliseconds::unix::optional",
        default
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<SystemTime>,
    /// What its requests used, including those of nodes that its node called.
    pub usage: Usage,
    /// The time of these requests, from the start of each to the end of its
    /// validation. The times of concurrent requests add up.
    #[serde(rename = "asking_ms", with = "milliseconds")]
    pub asking: Duration,
    /// From its start to its end.
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub elapsed: Duration,
}

impl StepRecord {
    /// Creates the record of a step that has begun, without figures.
    pub fn new(position: Position, node: &str, started: Option<SystemTime>) -> Self {
        StepRecord {
            position,
            node: node.to_owned(),
            action: String::new(),
            category: None,
            started,
            usage: Usage::default(),
            asking: Duration::ZERO,
            elapsed: Duration::ZERO,
        }
    }
}
