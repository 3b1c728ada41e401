// Cause: the fallback is a closure.
// Mend: write a function, and its name here.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = |_, _| 5)]
struct Rate {
    topic: String,
}



fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
