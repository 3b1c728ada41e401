// Cause: an argument that `compact` does not have.
// Mend: write `keep`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(rounds = 6))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
