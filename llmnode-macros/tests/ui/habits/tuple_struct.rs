// Cause: the node's field has no name, so that the prompt cannot name it.
// Mend: write `struct Haiku { topic: String }` and `{topic}`.
// Token: (String)
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {0}.")]
struct Haiku(String);

fn main() {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku("rain".into());
    let _ = run.call(&haiku);
}
