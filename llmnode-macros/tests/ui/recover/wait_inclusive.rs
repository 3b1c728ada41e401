// Cause: the range of waits is written with `..=`.
// Mend: write `1s..60s`; the second time is the longest wait.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, 1s..=60s)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
