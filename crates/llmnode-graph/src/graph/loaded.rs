//! A graph that was loaded, without its flow.

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

/// A graph that was loaded: what its steps share.
pub(crate) struct LoadedGraph {
    pub(crate) name: String,
    /// Of the file.
    pub(crate) hash: String,
    pub(crate) rules: Rules,
    /// By their place in the file.
    pub(crate) loaded_nodes: Vec<LoadedNode>,
    /// The places of the nodes by their ids.
    pub(crate) ids: HashMap<String, usize>,
    pub(crate) inputs: Inputs,
    pub(crate) bounds: Bounds,
    /// What it is to a graph that has it as a subgraph.
    pub(crate) facts: Facts,
    /// Values that a model, a tool or a search writes.
    pub(crate) untrusted: BTreeSet<String>,
    /// Values that a search writes.
    pub(crate) retrieved: BTreeSet<String>,
    /// The handles of all nodes by which the graph may end.
    pub(crate) warnings: Vec<Fault>,
    /// How many graphs stand within each other below it.
    pub(crate) height: usize,
}

/// What a run is given.
pub(crate) struct Inputs {
    /// Their declared types.
    pub(crate) declared: BTreeMap<String, Value>,
    /// Those that a node reads and no node writes, where the file declares none.
    pub(crate) read: BTreeSet<String>,
    /// Whether a run may be given others.
    pub(crate) allows_unknown: bool,
}

/// A node of a graph.
pub(crate) struct LoadedNode {
    pub(crate) id: String,
    pub(crate) label: String,
    /// The name of its type.
    pub(crate) kind: String,
    pub(crate) node: Arc<dyn GraphNode>,
    pub(crate) approval: bool,
    pub(crate) error_edge: bool,
    pub(crate) rejected_edge: bool,
    pub(crate) subgraph: Option<Graph>,
    /// The call of a tool that it makes, which is what a person approves.
    pub(crate) call: Option<Arc<ToolCallNode>>,
    /// Whether what it writes is the text of a model, a tool or a search.
    pub(crate) untrusted: bool,
    /// The handles that it may be left by.
    pub(crate) handles: Vec<String>,
}

impl LoadedGraph {
    pub(crate) fn loaded_node(&self, at: usize) -> &LoadedNode {
        &self.loaded_nodes[at]
    }

    /// The name of a node that people see; of one of another graph, its id.
    pub(crate) fn label_of<'l>(&'l self, id: &'l str) -> &'l str {
        self.ids.get(id).map_or(id, |at| &self.loaded_nodes[*at].label)
    }

    /// Whether a value may be what a model, a tool or a search wrote.
    pub(crate) fn is_untrusted(&self, key: &str) -> bool {
        self.untrusted.contains(key) || self.facts.writes_anything && !self.inputs.declared.contains_key(key)
    }
}
