//! The node types that are always there, registered like any other.

use std::sync::Arc;

use crate::graph::node_type::NodeType;
use crate::graph::nodes::{AgentType, IteratorType, MissingType, RouterType, SubgraphType, ToolType};

pub(super) fn types() -> Vec<Arc<dyn NodeType>> {
    vec![
        Arc::new(AgentType),
        Arc::new(ToolType),
        Arc::new(RouterType),
        Arc::new(IteratorType),
        Arc::new(SubgraphType),
    ]
}

/// In place of types of other crates: their faults name the missing feature.
pub(super) fn missing() -> Vec<Arc<dyn NodeType>> {
    vec![
        Arc::new(MissingType { name: "rag_node", aliases: &["rag"], feature: "rag" }),
        Arc::new(MissingType { name: "smart_node", aliases: &["smart"], feature: "smart" }),
    ]
}
