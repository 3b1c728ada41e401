//! The runs that have ended, those of an earlier server, too.
//!
//! Each has a page of its own under a name that nobody can guess, since that page is opened without the key.

use std::collections::VecDeque;

use llmnode_page::Recording;
use llmnode_page::ext::{Figures, figures};
use serde_json::Value;

use crate::kept::{KEPT, KeptRun};
use crate::key::Key;

pub(crate) struct Ended {
    pub(crate) number: u64,
    /// `None`: its file is not served now.
    pub(crate) file: Option<usize>,
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
    /// It ended while this server ran.
    pub(crate) is_of_now: bool,
}

impl Ended {
    pub(crate) fn of(
        kept: KeptRun,
        file: impl Into<Option<usize>>,
        page: String,
        is_of_now: bool,
    ) -> Self {
        // Without random numbers, nobody can open the page.
        let page_key = Key::random()
            .map(|key| key.text().to_owned())
            .unwrap_or_default();
        let KeptRun {
            number,
            graph,
            inputs,
            requests,
            outcome,
            error,
            values,
            figures,
            ..
        } = kept;
        let file = file.into();
        Ended {
            number,
            file,
            graph,
            inputs,
            requests,
            outcome,
            error,
            values,
            figures,
            page,
            page_key,
            is_of_now,
        }
    }
}

#[derive(Default)]
pub(crate) struct History {
    pub(crate) runs: VecDeque<Ended>,
    begun: u64,
}

impl History {
    /// After a run of an earlier server.
    pub(crate) fn continue_after(&mut self, number: u64) {
        self.begun = self.begun.max(number);
    }

    pub(crate) fn next_number(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    pub(crate) fn add(&mut self, run: Ended) {
        self.runs.push_front(run);
        self.runs.truncate(KEPT);
    }

    pub(crate) fn page(&self, key: &str) -> Option<&str> {
        self.runs
            .iter()
            .find(|run| !key.is_empty() && run.page_key == key)
            .map(|run| &*run.page)
    }
}

pub(crate) fn of_recording(recording: &Recording) -> (Figures, String) {
    (figures(recording), recording.page())
}
