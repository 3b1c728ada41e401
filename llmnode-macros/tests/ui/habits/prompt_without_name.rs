// Cause: the prompt stands in the attribute without its name.
// Mend: write `prompt = "…"`.
// Token: "Write a haiku about {topic}."
use llmnode::prelude::*;

#[llm_node("Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
