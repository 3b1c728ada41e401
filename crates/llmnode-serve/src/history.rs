//! The runs that have ended since the server was started.

use std::collections::VecDeque;

use llmnode_page::Recording;
use llmnode_page::internal::{Figures, figures};
use serde_json::Value;

/// The oldest are dropped.
const KEPT: usize = 20;

pub(crate) struct Ended {
    pub(crate) number: u64,
    pub(crate) file: usize,
    pub(crate) graph: String,
    pub(crate) inputs: Value,
    pub(crate) requests: u64,
    /// `completed`, `stopped`, or the category of the error.
    pub(crate) outcome: String,
    pub(crate) error: Option<String>,
    /// The state as JSON.
    pub(crate) values: String,
    pub(crate) figures: Figures,
    /// The run's page; its name is a secret of those who may see it.
    pub(crate) page: String,
    pub(crate) page_key: String,
}

#[derive(Default)]
pub(crate) struct History {
    pub(crate) runs: VecDeque<Ended>,
    begun: u64,
}

impl History {
    pub(crate) fn next_number(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    pub(crate) fn add(&mut self, run: Ended) {
        self.runs.push_front(run);
        self.runs.truncate(KEPT);
    }

    pub(crate) fn page(&self, key: &str) -> Option<&str> {
        self.runs.iter().find(|run| run.page_key == key).map(|run| &*run.page)
    }
}

pub(crate) fn of_recording(recording: &Recording) -> (Figures, String) {
    (figures(recording), recording.page())
}
