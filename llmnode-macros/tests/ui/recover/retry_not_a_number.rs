// Cause: `retry` begins with a time, and takes the number of tries first.
// Mend: write `retry(5, 1s..60s)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(1s..60s)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
