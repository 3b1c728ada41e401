// Cause: a share above 1.
// Mend: write one of at most 1.0.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(at = 1.5))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
