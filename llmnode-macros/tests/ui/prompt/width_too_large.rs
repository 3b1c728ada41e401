// Cause: the width is beyond what Rust formats.
// Mend: write a smaller number.
use llmnode::llm_node;

#[llm_node(prompt = "{topic:>70000}")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
