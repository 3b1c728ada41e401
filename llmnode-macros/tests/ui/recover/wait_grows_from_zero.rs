// Cause: the waits begin at 0 and double, so they would never grow.
// Mend: begin with more than 0.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [retry(5, 0s..1s)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
