// Cause: tools go to the call, not the node.
// Mend: give the node the field `#[node(tools)] tools: Toolset`.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::{BoxError, Toolset};

#[llm_node(prompt = "{question}")]
struct Ask {
    question: String,
}

async fn ask(run: &Run, ask: Ask) -> Result<String, NodeError> {
    let tools = Toolset::new()
        .function("shout", "Shouts a text.", |text: String| async move { Ok::<_, BoxError>(text) });
    run.call(&ask).tools(tools).await
}

fn main() {}
