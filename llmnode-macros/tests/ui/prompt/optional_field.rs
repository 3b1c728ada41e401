// Cause: the field is an `Option`, and the prompt does not say what stands for `None`.
// Mend: write `{topic:or(anything)}`.
// Token: {topic}
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: Option<String>,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: None };
    let _ = run.call(&haiku);
}
