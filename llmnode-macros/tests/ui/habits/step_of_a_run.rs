// Cause: a run is asked for a step, as for a call.
// Mend: write `run.call(&node)`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "Sum up {text}.")]
struct Sum {
    text: String,
}

async fn sum(run: &Run, node: Sum) -> Result<String, NodeError> {
    run.step(&node).await
}

fn main() {}
