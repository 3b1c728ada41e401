// Cause: a tool takes the run.
// Mend: take `cx: &Cx<'_, ()>`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "Translate {text}.")]
struct Translate {
    text: String,
}

/// Finds a text, and translates it.
#[tool]
async fn find(text: String, run: &Run) -> Result<String, NodeError> {
    run.call(&Translate { text }).await
}

fn main() {}
