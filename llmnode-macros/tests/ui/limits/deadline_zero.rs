// Cause: nothing can be asked in no time.
// Mend: write more than 0.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", deadline = 0s)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
