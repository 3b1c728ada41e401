// Cause: `recover` stands alone.
// Mend: write the categories and their steps in parentheses, or drop it.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover, max_tokens = 5)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
