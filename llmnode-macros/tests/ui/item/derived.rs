// Cause: the node is written as a derive.
// Mend: write `#[llm_node(prompt = "…")]` alone.
use llmnode::prelude::*;

#[derive(LlmNode)]
#[llm_node(prompt = "About {topic}")]
struct Ask {
    topic: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Ask { topic: String::new() });
}
