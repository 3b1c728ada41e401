//! All that the page shows.

use std::io;

use crate::file::GraphFile;
use crate::history::History;
use crate::kept::{KeptRun, Store};
use crate::running::Running;

pub(crate) struct State {
    pub(crate) files: Vec<GraphFile>,
    pub(crate) run: Option<Running>,
    pub(crate) history: History,
    pub(crate) keeper: Keeper,
}

pub(crate) struct Keeper {
    /// `None`: no runs are kept.
    pub(crate) store: Option<Store>,
    /// Why a run could not be kept.
    pub(crate) not_kept: Option<String>,
}

impl Keeper {
    /// A run that cannot be kept goes on, and the person is told. One that waited is forgotten, since a restart would ask once
    /// more. `Err`: its file is still there.
    pub(crate) fn keep(&mut self, run: &KeptRun) -> io::Result<()> {
        let Some(store) = &self.store else {
            return Ok(());
        };
        let Err(error) = store.keep(run) else {
            self.not_kept = None;
            return Ok(());
        };
        self.not_kept = Some(error.to_string());
        store.forget_waiting(run.number)
    }
}
