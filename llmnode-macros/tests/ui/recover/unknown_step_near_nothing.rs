// Cause: there is no such step.
// Mend: choose one of the listed ones.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [explode]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
