//! All that the page shows.

use crate::file::GraphFile;
use crate::history::History;
use crate::kept::{KeptRun, Store};
use crate::running::Running;

pub(crate) struct State {
    pub(crate) files: Vec<GraphFile>,
    pub(crate) run: Option<Running>,
    pub(crate) history: History,
    /// `None`: no runs are kept.
    pub(crate) store: Option<Store>,
    /// Why a run could not be kept.
    pub(crate) not_kept: Option<String>,
}

impl State {
    /// A run that cannot be kept goes on: the person is told.
    pub(crate) fn keep(&mut self, run: &KeptRun) {
        let Some(store) = &self.store else { return };
        self.not_kept = store.keep(run).err().map(|error| error.to_string());
    }
}
