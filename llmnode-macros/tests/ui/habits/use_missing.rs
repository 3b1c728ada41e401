// Cause: the macro is not imported.
// Mend: write `use llmnode::prelude::*;`.
// Errors: 2
// Missed: rustc goes on behind a macro that it does not know, to the call of what has become no node.
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
