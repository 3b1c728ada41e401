// Cause: `retries` does not fit into 32 bits.
// Mend: write the few retries that the answer is worth.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, retries = 5_000_000_000)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
