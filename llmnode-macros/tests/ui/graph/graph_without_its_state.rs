// Cause: a graph runs on a state of its own.
// Mend: write `registry.run(model).with_state(graph.start(inputs)?)`.
#![allow(unused)]

use llmnode::graph::Graph;
use llmnode::prelude::*;

async fn go(graph: Graph) -> Result<(), NodeError> {
    let mut run = Run::new(ScriptedModel::new());
    run.flow(&graph).await?;
    Ok(())
}

fn main() {}
