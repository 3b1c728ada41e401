//! The built-in node types, and nodes of the program as types.

mod agent;
mod agent_visit;
mod calls;
mod iterator;
mod json_template;
mod registered;
mod router;
mod subgraph;
mod tool;

use std::sync::Arc;

use llmnode_runtime::{Exec, Node};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::faults::FaultKind;
use crate::graph::loaded::GraphNode;
use crate::graph::node_type::{NodeLoader, NodeType};
use crate::state::State;

type Load = fn(&mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>>;

pub(crate) struct BuiltIn {
    name: &'static str,
    aliases: &'static [&'static str],
    schema: fn() -> Value,
    load: Load,
}

impl BuiltIn {
    fn new<Data: JsonSchema>(name: &'static str, load: Load) -> Self {
        BuiltIn {
            name,
            aliases: &[],
            schema: || schema_for!(Data).to_value(),
            load,
        }
    }

    pub(crate) fn types() -> [BuiltIn; 5] {
        [
            BuiltIn::new::<agent::Data>("agent", agent::load),
            BuiltIn::new::<tool::Data>("tool", tool::load),
            BuiltIn::new::<router::Data>("router", router::load),
            BuiltIn::new::<iterator::Data>("iterator", iterator::load),
            BuiltIn::new::<subgraph::Data>("subgraph", subgraph::load),
        ]
    }

    /// In place of types of other crates: their faults name the missing feature.
    pub(crate) fn missing() -> [BuiltIn; 2] {
        let schema = || json!({"type": "object"});
        [
            BuiltIn {
                name: "rag_node",
                aliases: &["rag"],
                schema,
                load: |node| missing(node, "rag"),
            },
            BuiltIn {
                name: "smart_node",
                aliases: &["smart"],
                schema,
                load: |node| missing(node, "smart"),
            },
        ]
    }

    pub(crate) fn registered<N>() -> Self
    where
        N: Node<Output: Serialize> + Exec<State> + DeserializeOwned + JsonSchema + Send + 'static,
    {
        BuiltIn::new::<registered::Data>(N::NAME, registered::load::<N>)
    }
}

impl NodeType for BuiltIn {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[&str] {
        self.aliases
    }

    fn schema(&self) -> Value {
        (self.schema)()
    }

    fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
        (self.load)(node)
    }
}

fn missing(node: &mut NodeLoader<'_>, feature: &str) -> Option<Arc<dyn GraphNode>> {
    let at = format!("{}/type", node.node.at);
    let message = format!(
        "the type \"{feature}_node\" needs the feature `{feature}` of llmnode, and must be added to the registry"
    );
    node.faults.fault(at, FaultKind::Feature, message);
    None
}
