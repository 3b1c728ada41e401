//! All that the page shows.

use crate::file::GraphFile;
use crate::history::History;
use crate::running::Running;

pub(crate) struct State {
    pub(crate) files: Vec<GraphFile>,
    pub(crate) run: Option<Running>,
    pub(crate) history: History,
}
