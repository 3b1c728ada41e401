// Cause: the variable is written as a raw identifier.
// Mend: write it without `r#`.
use llmnode::llm_node;

#[llm_node(prompt = "{r#topic}")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
