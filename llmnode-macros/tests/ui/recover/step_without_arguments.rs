// Cause: `retry` does not say how often.
// Mend: write `retry(2)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry, bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
