// Cause: the longest wait is written as a range.
// Mend: write one time.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", max_wait = 1s..60s)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
