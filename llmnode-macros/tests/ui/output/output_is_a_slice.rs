// Cause: the output is a borrowed list.
// Mend: write `output = Vec<Choice>`.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose for {topic}.", output = &[Choice])]
struct Choose {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Choose { topic: "rain".into() });
}
