// Cause: the wait stands in quotes.
// Mend: write it without quotes.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", wait = "10s")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
