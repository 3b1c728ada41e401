// Cause: the macro is not imported.
// Mend: write `use llmnode::prelude::*;`.
// Token: llm_node
use llmnode::{Run, ScriptedModel};

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
