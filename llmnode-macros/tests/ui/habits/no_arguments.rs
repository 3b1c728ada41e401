// Cause: the attribute has no arguments.
// Mend: write `#[llm_node(prompt = "…")]`.
// Token: llm_node
use llmnode::prelude::*;

#[llm_node]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
