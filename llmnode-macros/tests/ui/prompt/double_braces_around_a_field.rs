// Cause: the variable stands in double braces, as other template languages write it.
// Mend: write single braces, `{topic}`.
// Token: {{topic}}
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {{topic}}.")]
struct Haiku {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let _ = run.call(&haiku);
}
