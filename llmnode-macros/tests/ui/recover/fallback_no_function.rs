// Cause: `fallback` names a constant.
// Mend: name a function that takes the node and the error.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = MIDDLE)]
struct Rate {
    topic: String,
}

const MIDDLE: u8 = 5;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
