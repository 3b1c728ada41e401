// Cause: `limits` names no limit.
// Mend: write a limit, or drop `limits()`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits())]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
