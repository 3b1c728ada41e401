//! The node types of llmnode.

use llmnode_graph::Registry;
use llmnode_rag::StoreExt;
use llmnode_smart::SmartRegistry;

use crate::args::Options;

/// Types of other crates, by all their names.
pub(crate) const SHIPPED: [&str; 4] = ["rag", "rag_node", "smart", "smart_node"];

pub(crate) fn registry(options: &Options) -> Registry {
    let registry = Registry::new().rag_nodes();
    match &options.programs {
        Some(folder) => registry.programs(folder),
        None => registry.smart_nodes(),
    }
}
