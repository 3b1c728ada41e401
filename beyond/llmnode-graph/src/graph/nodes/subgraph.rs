//! `subgraph`: another graph of the registry's folder, on the same state.

use std::sync::Arc;

use llmnode_runtime::{BoxError, BoxFuture};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::facts::Facts;
use crate::graph::loaded::{GraphNode, NodeContext};
use crate::graph::node_type::NodeLoader;
use crate::graph::subgraphs;
use crate::state::Update;

/// The settings of a `subgraph`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
    /// The name of a file in the registry's folder, without `.json`.
    flow_id: String,
}

pub(super) fn load(node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
    let Data { flow_id } = node.data()?;
    let graph = subgraphs::subgraph(node, &flow_id)?;
    for name in graph.needs() {
        node.reads("/flow_id", name);
    }
    let Facts {
        handles,
        role,
        reads,
        ..
    } = std::mem::take(node.facts);
    *node.facts = Facts {
        handles,
        role,
        reads,
        ..graph.loaded.facts.clone()
    };
    let at = node.node.data.pointer("/flow_id");
    node.facts
        .writes
        .iter_mut()
        .for_each(|write| write.at.clone_from(&at));
    node.facts
        .system_prompt_reads
        .iter_mut()
        .for_each(|read| read.at.clone_from(&at));
    node.subgraph = Some(graph);
    Some(Arc::new(Nested))
}

/// Only run as a tool of an agent. In a flow, the subgraph's flow takes its place.
struct Nested;

impl GraphNode for Nested {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move { visit.step.run_subgraph(visit.cx()).await })
    }
}
