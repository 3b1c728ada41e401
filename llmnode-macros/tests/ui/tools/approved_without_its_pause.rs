// Cause: `approve` gets a decision.
// Mend: decide each call that waits, `paused.decide(&id, Approval::yes())?`, and give it the `Paused`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{question}")]
struct Ask {
    question: String,
}

async fn ask(run: &Run, ask: Ask) -> Result<String, NodeError> {
    run.call(&ask).approve(Approval::yes()).await
}

fn main() {}
