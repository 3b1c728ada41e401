// Cause: a word for the reasoning is misspelt.
// Mend: write one of `off`, `low`, `medium`, `high` and `max`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", reasoning = "hihg")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
