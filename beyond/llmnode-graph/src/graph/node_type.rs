//! The interface of node types, which the built-in ones use, too, and the registry that holds them.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use llmnode_runtime::{ChatModel, Limits, Settings, Toolset};
use serde_json::Value;

use crate::facts::Facts;
use crate::faults::{Faults, GraphFaults};
use crate::file::NodeFile;
use crate::graph::loaded::{CallToApprove, Graph, GraphNode};
use crate::graph::roles::ToolLink;

/// A type of nodes in graphs.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod graph { pub use llmnode_graph::*; } }
/// use std::sync::Arc;
///
/// use llmnode::graph::{Graph, GraphNode, NodeLoader, NodeType, Registry, Template, Update, NodeContext};
/// use llmnode::{BoxError, BoxFuture, ScriptedModel};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::{Value, json};
///
/// /// Writes a text to a value.
/// struct Say;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Data {
///     text: String,
/// }
///
/// impl NodeType for Say {
///     fn name(&self) -> &str {
///         "say"
///     }
///     fn schema(&self) -> Value {
///         schemars::schema_for!(Data).to_value()
///     }
///     fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
///         let data: Data = node.data()?;
///         let text = node.template("/text", &data.text);
///         node.writes("said");
///         Some(Arc::new(Echo(text)))
///     }
/// }
///
/// struct Echo(Template);
///
/// impl GraphNode for Echo {
///     fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
///         Box::pin(async move { Ok(Update::new().with_value("said", visit.render(&self.0)?)) })
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use llmnode_flow::flow::RunExt;
/// let registry = Registry::new().node_type(Say).build()?;
/// let file = r#"{"format": "llmnode/graph", "version": 1, "inputs": {"name": {"type": "string"}},
///     "nodes": [{"id": "hello", "type": "say", "data": {"text": "Hello {{ name }}!"}}], "edges": []}"#;
/// let graph = Graph::parse(file, &registry)?;
/// let mut run = registry.run(ScriptedModel::new()).with_state(graph.start(json!({"name": "Ann"}))?);
/// run.flow(&graph).await?;
/// assert_eq!(run.state()["said"], "Hello Ann!");
/// # Ok::<(), BoxError>(()) }).unwrap();
/// ```
pub trait NodeType: Send + Sync + 'static {
    /// Returns the name of the type in files.
    fn name(&self) -> &str;

    /// Returns other names of the type.
    fn aliases(&self) -> &[&str] {
        &[]
    }

    /// Returns the JSON schema of a node's `data`.
    fn schema(&self) -> Value;

    /// Loads one node, and notes what it reads and writes. Returns `None` only after it noted a fault. A node with faults that
    /// returns one all the same lets more mistakes be found at once.
    fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>>;
}

/// One node while it is loaded: it has the settings, and the node type reports to it mistakes and what the node does.
pub struct NodeLoader<'l> {
    pub(crate) node: &'l NodeFile,
    pub(crate) is_react_flow: bool,
    pub(crate) context: LoadContext<'l>,
    pub(crate) links: &'l [ToolLink],
    pub(crate) subgraph: Option<Graph>,
    pub(crate) call: Option<Arc<dyn CallToApprove>>,
    pub(crate) limits: Limits,
    pub(crate) facts: &'l mut Facts,
    pub(crate) faults: &'l mut Faults,
    /// Only faults if `links` are complete: an edge to a tool may be misspelled.
    pub(crate) late: &'l mut Faults,
}

/// What is known of the outer graphs while one is loaded.
#[derive(Clone, Copy)]
pub(crate) struct LoadContext<'l> {
    pub(crate) registry: &'l CheckedRegistry,
    /// Outermost first.
    pub(crate) names: &'l [String],
    pub(crate) cache: &'l LoadCache,
}

pub(super) type LoadedOrNot = Result<Graph, GraphFaults>;

#[derive(Default)]
pub(crate) struct LoadCache {
    /// Each file is loaded once, however many nodes refer to it.
    pub(super) graphs: RefCell<HashMap<String, Rc<LoadedOrNot>>>,
    pub(super) schemas: RefCell<HashMap<TypeId, Value>>,
}

/// A checked [`Registry`](crate::Registry), for loading and running graphs. Clones share it.
#[derive(Clone)]
pub struct CheckedRegistry(pub(super) Arc<RegisteredInner>);

pub(super) struct RegisteredInner {
    pub(super) tools: Toolset,
    pub(super) types: BTreeMap<String, Arc<dyn NodeType>>,
    pub(super) models: Vec<(String, Arc<dyn ChatModel>, Settings)>,
    pub(super) folder: Option<PathBuf>,
    pub(super) extensions: Extensions,
}

pub(super) type Extensions = HashMap<TypeId, Box<dyn Any + Send + Sync>>;
