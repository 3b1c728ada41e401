// Cause: the field is a list, which has no form of its own as text.
// Mend: write `{topics:list}`.
// Token: {topics}
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about one of:\n{topics}")]
struct Haiku {
    topics: Vec<String>,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topics: vec!["rain".into()] };
    let _ = run.call(&haiku);
}
