// Cause: the user message has another name.
// Mend: write `prompt = "…"`.
use llmnode::prelude::*;

#[llm_node(system = "Be brief.", user = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Haiku { topic: "rain".into() });
}
