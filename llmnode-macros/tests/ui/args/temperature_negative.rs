// Cause: the sampling temperature is below 0.
// Mend: write 0 for the most likely answer, or more.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", temperature = -0.5)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
