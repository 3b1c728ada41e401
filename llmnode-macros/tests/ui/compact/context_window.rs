// Cause: a word of other libraries.
// Mend: write `window`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", context_window = 8_192)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
