// Cause: a wait is negative.
// Mend: write 0 or more.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, -1s)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
