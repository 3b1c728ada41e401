// Cause: the wait is longer than a year.
// Mend: write a time that someone will wait for.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, 9999h)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
