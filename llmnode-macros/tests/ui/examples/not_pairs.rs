// Cause: the examples are inputs alone.
// Mend: write pairs of an input and its answer: `("rain", Choice { .. })`.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose for {topic}.", output = Choice, examples = ["rain", "snow"])]
struct Choose {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Choose { topic: "rain".into() });
}
