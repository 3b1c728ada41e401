//! `subgraph`: another graph of the registry's folder, on the same state.

use std::sync::Arc;

use llmnode_runtime::{BoxError, BoxFuture};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::facts::{Read, Write};
use crate::graph::loaded::{GraphNode, Visit};
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
    let facts = &graph.loaded.facts;
    let at = node.settings.pointer("/flow_id");
    let writes = facts.writes.iter().map(|write| Write { at: at.clone(), ..write.clone() });
    node.facts.writes.extend(writes);
    node.facts.also_writes.extend(facts.also_writes.iter().cloned());
    node.facts.system_prompt_reads =
        facts.system_prompt_reads.iter().map(|read| Read { at: at.clone(), ..read.clone() }).collect();
    node.facts.value_flows.extend(facts.value_flows.iter().cloned());
    node.facts.writes_anything |= facts.writes_anything;
    node.facts.untrusted |= facts.untrusted;
    node.facts.retrieved |= facts.retrieved;
    node.facts.pauses |= facts.pauses;
    node.subgraph = Some(graph);
    Some(Arc::new(Nested))
}

/// Only run as a tool of an agent. In a flow, the subgraph's flow takes its place.
struct Nested;

impl GraphNode for Nested {
    fn exec<'a>(&'a self, visit: &'a Visit<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move { visit.step.run_subgraph(visit.cx()).await })
    }
}
