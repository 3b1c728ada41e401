//! The interface of node types, which the built-in ones use, too.

use std::fmt;
use std::sync::Arc;

use llmnode_runtime::{BoxError, BoxFuture, Category, Cx, NodeError, ToolCall};
use serde_json::Value;

use crate::graph::loading::NodeLoader;
use crate::graph::step::GraphStep;
use crate::state::{MOST, State, Update, fenced, take, text_of};
use crate::template::{Template, key};

/// A type of nodes in graphs.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod graph { pub use llmnode_graph::*; } }
/// use std::sync::Arc;
///
/// use llmnode::graph::{Graph, GraphNode, NodeLoader, NodeType, Registry, Template, Update, Visit};
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
///     fn exec<'a>(&'a self, visit: &'a Visit<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
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

    /// Loads one node, and notes what it reads and writes. Returns `None` only after it noted a fault; what the node writes
    /// then counts as unknown. A node with faults that returns one all the same lets more mistakes be found at once.
    fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>>;
}

/// One node of a loaded graph.
pub trait GraphNode: Send + Sync + 'static {
    /// Executes one visit. The graph writes the update that it returns.
    ///
    /// The visit is the call that the ledger lists under the node's id: a node that asks a model once executes its
    /// [`Ask`](llmnode_runtime::primitive::Ask) in it, `ask.exec(visit.cx())`.
    fn exec<'a>(&'a self, visit: &'a Visit<'a>) -> BoxFuture<'a, Result<Update, BoxError>>;
}

/// One visit of a node.
pub struct Visit<'v> {
    pub(crate) cx: &'v Cx<'v, State>,
    pub(crate) step: &'v GraphStep,
    pub(crate) approved: Option<&'v ToolCall>,
}

impl<'v> Visit<'v> {
    /// Returns the state as the node sees it.
    pub fn state(&self) -> &'v State {
        self.cx.state()
    }

    /// Returns the context of the call, for calling other nodes.
    pub fn cx(&self) -> &'v Cx<'v, State> {
        self.cx
    }

    /// Returns the id of the node.
    pub fn id(&self) -> &'v str {
        self.step.id()
    }

    /// Returns a value by its name or path, like [`State::value`].
    pub fn value(&self, name: &str) -> Option<&'v Value> {
        self.state().value(name)
    }

    /// Whether a value may be text of a model, a tool or a search, in this graph, an outer one or an inner one.
    pub(crate) fn is_untrusted(&self, name: &str) -> bool {
        self.step.is_untrusted(name) || self.state().untrusted.contains(key(name))
    }

    /// Returns a template's text.
    ///
    /// # Errors
    /// A `prep_error` that names the node and the value that is missing. A `limit_exceeded`, if the text would be larger than a state may
    /// be.
    pub fn render(&self, template: &Template) -> Result<String, NodeError> {
        self.render_fenced(template, |_| false)
    }

    /// `is_fenced`: values that are put into a fence, which they cannot close.
    pub(crate) fn render_fenced(
        &self,
        template: &Template,
        is_fenced: impl Fn(&str) -> bool,
    ) -> Result<String, NodeError> {
        let (mut left, mut too_large) = (MOST, None);
        let value = |name: &str| {
            let text = text_of(self.value(name)?);
            too_large = take(self.id(), &mut left, text.len()).err();
            if too_large.is_some() {
                return None;
            }
            Some(if is_fenced(name) { fenced(&text).into() } else { text })
        };
        let text = template.render(value);
        text.map_err(|missing| {
            if let Some(error) = too_large {
                return error;
            }
            NodeError::new(Category::PrepError, format!("the node `{}` reads {missing}", self.id()))
        })
    }
}

impl fmt::Debug for Visit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit").field("id", &self.id()).finish_non_exhaustive()
    }
}
