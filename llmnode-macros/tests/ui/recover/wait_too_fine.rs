// Cause: the time has a part of a millisecond.
// Mend: round it to milliseconds.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, 0.5ms)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
