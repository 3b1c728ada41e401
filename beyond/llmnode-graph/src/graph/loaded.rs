//! A loaded graph, its nodes, and a visit of one of them: types that hold each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use llmnode_flow::flow::Flow;
use llmnode_flow::private::Bounds;
use llmnode_runtime::{BoxError, BoxFuture, Cx, NodeError, Settings, ToolCall};
use serde_json::Value;

use crate::check::Region;
use crate::facts::Facts;
use crate::faults::Fault;
use crate::state::{Rules, State, Update};

/// A graph that was loaded from a file and checked as a whole. Clones share it.
///
/// It runs as any [`Flow`]: `run.flow(&graph)`, with reports, journals, pictures and limits.
///
/// ```no_run
/// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::flow; pub mod graph { pub use llmnode_graph::*; } }
/// use llmnode::flow::RunExt;
/// use llmnode::graph::{Graph, Registry};
/// use serde_json::json;
///
/// # async fn example(model: llmnode::ScriptedModel) -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new().folder("graphs").build()?;
/// let graph = Graph::open("support", &registry)?; // graphs/support.json
/// let mut run = registry.run(model).with_state(graph.start(json!({"question": "Where is the key?"}))?);
/// run.flow(&graph).await?;
/// println!("{}", run.state()["answer"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Graph {
    pub(super) loaded: Arc<LoadedGraph>,
    pub(super) region: Arc<Region>,
    pub(super) flow: Flow<State>,
}

/// All of a graph but its flow, shared by its steps.
pub(crate) struct LoadedGraph {
    pub(crate) name: String,
    /// Of the text and those of its subgraphs. An approval holds for no other.
    pub(crate) hash: String,
    /// How values of the state are written, by key.
    pub(crate) rules: Rules,
    pub(crate) loaded_nodes: Vec<LoadedNode>,
    /// The numbers of nodes by their ids.
    pub(crate) ids: HashMap<String, usize>,
    pub(crate) inputs: Inputs,
    pub(crate) bounds: Bounds,
    /// Of the graph as a node of another one.
    pub(crate) facts: Facts,
    /// The keys of values that models, tools and searches write.
    pub(crate) untrusted: BTreeSet<String>,
    pub(crate) retrieved: BTreeSet<String>,
    pub(crate) warnings: Vec<Fault>,
    /// How many graphs are nested within it.
    pub(crate) height: usize,
}

pub(crate) struct Inputs {
    pub(crate) declared: BTreeMap<String, Value>,
    /// Without declared inputs: read by a node, and written by none.
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
    pub(crate) settings: Settings,
    /// What a person approves, for a node that is one tool call.
    pub(crate) call: Option<Arc<dyn CallToApprove>>,
    pub(crate) untrusted: bool,
    pub(crate) handles: Vec<String>,
}

/// One node of a loaded graph.
pub trait GraphNode: Send + Sync + 'static {
    /// Executes one visit. The graph writes the update that it returns.
    ///
    /// The visit is the call that the ledger lists under the node's id: a node that asks a model once executes its
    /// [`DynNode`](llmnode_runtime::DynNode) in it, `node.exec(visit.cx())`.
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>>;
}

pub(crate) trait CallToApprove: Send + Sync {
    fn call(&self, visit: &NodeContext<'_>) -> Result<ToolCall, NodeError>;

    fn refuses(&self, call: &ToolCall) -> Option<String>;
}

/// One visit of a node.
pub struct NodeContext<'v> {
    pub(crate) cx: &'v Cx<'v, State>,
    pub(crate) step: &'v GraphStep,
    pub(crate) approved: Option<&'v ToolCall>,
}

/// One visit of a node: the call under the node's id in the ledger.
#[derive(Clone)]
pub(crate) struct GraphStep {
    pub(super) loaded: Arc<LoadedGraph>,
    pub(super) at: usize,
    /// Agents that called it as a tool, outermost first; empty for a step.
    pub(super) callers: Vec<usize>,
    pub(super) catches: bool,
}

impl LoadedGraph {
    pub(crate) fn label_of<'l>(&'l self, id: &'l str) -> &'l str {
        self.ids
            .get(id)
            .map_or(id, |at| &self.loaded_nodes[*at].label)
    }

    pub(crate) fn is_untrusted(&self, key: &str) -> bool {
        self.untrusted.contains(key)
            || self.facts.writes_anything && !self.inputs.declared.contains_key(key)
    }
}
