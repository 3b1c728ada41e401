// Cause: derives are given to `llm_output`.
// Mend: write `#[derive(Clone)]` below it.
use llmnode::prelude::*;

#[llm_output(Clone, PartialEq)]
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
