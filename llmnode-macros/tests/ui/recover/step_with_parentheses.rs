// Cause: `bubble` has parentheses, and takes nothing.
// Mend: write `bubble`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(network = [bubble()]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
