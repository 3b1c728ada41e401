// Cause: the node has a field that no prompt names.
// Mend: insert `{style}`, or mark the field `#[node(skip)]`.
// Token: style: String
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
    style: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into(), style: "sober".into() };
    let _ = run.call(&haiku);
}
