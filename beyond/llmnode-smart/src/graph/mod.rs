//! `smart_node`: a goal and fields in a graph's file.

mod data;
mod inputs;
mod node;
mod programs;
mod signature;

use std::path::PathBuf;
use std::sync::Arc;

use data::Data;
use llmnode_graph::{GraphNode, NodeLoader, NodeType, Registry};
use node::SmartNode;
use programs::Programs;
use serde_json::Value;

/// Methods of [`Registry`] for smart nodes.
///
/// ```
/// use llmnode::graph::{Graph, Registry};
/// use llmnode::prelude::*;
/// use llmnode::smart::SmartRegistry;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let registry = Registry::new().smart_nodes().build()?;
/// let file = r#"{"format": "llmnode/graph", "version": 1, "inputs": {"question": {"type": "string"}},
///     "nodes": [{"id": "judge", "type": "smart_node", "data": {
///         "goal": "Is it a question about cooking?", "mode": "Predict",
///         "inputs": [{"name": "question"}],
///         "outputs": [{"name": "verdict", "type": {"enum": ["yes", "no"]}}]}}],
///     "edges": []}"#;
/// let graph = Graph::parse(file, &registry)?;
/// let model = ScriptedModel::new().reply(r#"{"verdict": "yes"}"#);
/// let mut run = registry.run(model).with_state(graph.start(json!({"question": "How long do eggs boil?"}))?);
/// run.flow(&graph).await?;
/// assert_eq!(run.state()["verdict"], "yes");
/// # Ok(())
/// # }
/// ```
pub trait SmartRegistry: Sized {
    /// Adds the node type `smart_node`, also called `smart`.
    #[must_use]
    fn smart_nodes(self) -> Self;

    /// The same, with the folder in which their programs are: `"program": "judge"` is the file `judge.json` there, and without it
    /// `<id>_compiled.json` if it exists. A file that does not fit is a fault of the graph. Nothing outside the folder is opened.
    #[must_use]
    fn programs(self, folder: impl Into<PathBuf>) -> Self;
}

impl SmartRegistry for Registry {
    fn smart_nodes(self) -> Self {
        let mut is_new = false;
        let registry = self.extend_with::<Programs>(|programs| is_new = programs.register_once());
        if is_new {
            registry.node_type(SmartType)
        } else {
            registry
        }
    }

    fn programs(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.smart_nodes()
            .extend_with::<Programs>(|programs| programs.set_folder(folder))
    }
}

struct SmartType;

impl NodeType for SmartType {
    fn name(&self) -> &str {
        "smart_node"
    }

    fn aliases(&self) -> &[&str] {
        &["smart"]
    }

    fn schema(&self) -> Value {
        schemars::schema_for!(Data).to_value()
    }

    fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
        let data: Data = node.data()?;
        if let Some(profile) = &data.profile {
            node.profile("/profile", profile);
        }
        let signature = signature::build_signature(&data, node)?;
        let guards = signature::guards(&data, &signature, node)?;
        let plan = programs::plan(&data, &signature, node)?;
        node.reads_or_message(
            signature
                .inputs
                .iter()
                .enumerate()
                .map(|(index, field)| (format!("/inputs/{index}/name"), field.name.as_str())),
        );
        let met = (!guards.is_empty()).then(|| format!("{}_met", node.id()));
        match &data.save_as {
            Some(key) => node.writes(key.clone()),
            None => data
                .outputs
                .iter()
                .for_each(|output| node.writes(output.name.clone())),
        }
        met.iter().for_each(|key| node.writes(key.clone()));
        node.untrusted();
        Some(Arc::new(SmartNode {
            id: node.id().to_owned(),
            plan,
            guards,
            met,
            profile: data.profile,
            save_as: data.save_as,
        }))
    }
}
