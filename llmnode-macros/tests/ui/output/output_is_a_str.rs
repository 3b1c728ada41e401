// Cause: the output is a borrowed text.
// Mend: leave `output` out: the output is then the raw text.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose for {topic}.", output = &str)]
struct Choose {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Choose { topic: "rain".into() });
}
