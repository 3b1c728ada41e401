//! What the program that serves the page sets.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use llmnode_graph::CheckedRegistry;
use llmnode_runtime::ChatModel;

/// What a file may use: its text decides, since a check needs no tools and stores that exist.
pub type Registries = Arc<dyn Fn(&str) -> Result<CheckedRegistry, String> + Send + Sync>;

pub(crate) struct Options {
    pub(crate) registries: Registries,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) requests: u64,
    pub(crate) can_run: bool,
    /// What a person should know of a tool, by its name.
    pub(crate) notes: BTreeMap<String, String>,
    /// Where runs are kept.
    pub(crate) kept: Option<PathBuf>,
}
