// Cause: a time is written as a bare number.
// Mend: add the unit, `30s`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", deadline = 30)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
