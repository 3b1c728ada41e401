//! Node types of other crates whose feature is off.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::faults::FaultKind;
use crate::graph::loaded::GraphNode;
use crate::graph::node_type::{NodeLoader, NodeType};

pub(crate) struct MissingType {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) feature: &'static str,
}

impl NodeType for MissingType {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[&str] {
        self.aliases
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
        let MissingType { name, feature, .. } = self;
        let at = format!("{}/type", node.node.at);
        let message = format!(
            "the type {name:?} needs the feature `{feature}` of llmnode, and must be added to the registry"
        );
        node.faults.fault(at, FaultKind::Feature, message);
        None
    }
}
