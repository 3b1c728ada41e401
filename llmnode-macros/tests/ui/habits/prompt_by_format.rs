// Cause: the prompt is put together by `format!`, as it would be in a function.
// Mend: write the text itself; its variables are the node's fields.
// Token: format!("Write a haiku about {}.", topic)
use llmnode::prelude::*;

#[llm_node(prompt = format!("Write a haiku about {}.", topic))]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
