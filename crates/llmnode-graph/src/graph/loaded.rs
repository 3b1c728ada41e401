//! A loaded graph without its flow.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use llmnode_flow::private::Bounds;
use serde_json::Value;

use crate::facts::Facts;
use crate::faults::Fault;
use crate::graph::Graph;
use crate::graph::node_type::GraphNode;
use crate::graph::nodes::ToolCallNode;
use crate::state::Rules;

pub(crate) struct LoadedGraph {
    pub(crate) name: String,
    /// Of the file and of its subgraphs.
    pub(crate) hash: String,
    pub(crate) rules: Rules,
    /// In the order of the file.
    pub(crate) loaded_nodes: Vec<LoadedNode>,
    /// Indices into `loaded_nodes`.
    pub(crate) ids: HashMap<String, usize>,
    pub(crate) inputs: Inputs,
    pub(crate) bounds: Bounds,
    pub(crate) facts: Facts,
    pub(crate) untrusted: BTreeSet<String>,
    pub(crate) retrieved: BTreeSet<String>,
    pub(crate) warnings: Vec<Fault>,
    pub(crate) height: usize,
}

pub(crate) struct Inputs {
    pub(crate) declared: BTreeMap<String, Value>,
    /// Read by some node and written by none, if the file declares no inputs.
    pub(crate) read: BTreeSet<String>,
    pub(crate) allows_unknown: bool,
}

pub(crate) struct LoadedNode {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) kind: String,
    pub(crate) node: Arc<dyn GraphNode>,
    pub(crate) approval: bool,
    pub(crate) error_edge: bool,
    pub(crate) rejected_edge: bool,
    pub(crate) subgraph: Option<Graph>,
    /// The tool call that it makes, which is what a person approves.
    pub(crate) call: Option<Arc<ToolCallNode>>,
    pub(crate) untrusted: bool,
    pub(crate) handles: Vec<String>,
}

impl LoadedGraph {
    pub(crate) fn loaded_node(&self, at: usize) -> &LoadedNode {
        &self.loaded_nodes[at]
    }

    /// For a node of another graph, its id.
    pub(crate) fn label_of<'l>(&'l self, id: &'l str) -> &'l str {
        self.ids.get(id).map_or(id, |at| &self.loaded_nodes[*at].label)
    }

    pub(crate) fn is_untrusted(&self, key: &str) -> bool {
        self.untrusted.contains(key) || self.facts.writes_anything && !self.inputs.declared.contains_key(key)
    }
}
