// Cause: the registry is not built.
// Mend: write `.build()?` at its end.
#![allow(unused)]

use llmnode::graph::{Graph, GraphFaults, Registry};
use llmnode::prelude::*;

fn graph(text: &str) -> Result<Graph, GraphFaults> {
    let registry = Registry::new().model("good", ScriptedModel::new());
    Graph::parse(text, &registry)
}

fn main() {}
