// Cause: `recover` names no category.
// Mend: write a category with its steps, or drop `recover()`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover())]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
