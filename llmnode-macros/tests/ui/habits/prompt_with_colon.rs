// Cause: the argument is written with a colon, like a field.
// Mend: write `prompt = "…"`.
// Token: prompt:
use llmnode::prelude::*;

#[llm_node(prompt: "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
