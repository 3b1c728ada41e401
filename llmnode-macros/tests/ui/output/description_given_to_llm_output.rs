// Cause: a description and an argument of a node are given to `llm_output`.
// Mend: write a doc comment above the type, and `retries` at the node.
// Errors: 2
use llmnode::prelude::*;

#[llm_output(description = "What to take.", retries = 2)]
struct Choice {
    item_name: String,
}

#[llm_node(prompt = "Choose for {topic}.", output = Choice)]
struct Choose {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Choose { topic: "rain".into() });
}
