// Cause: a word of other libraries.
// Mend: write `compact`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compaction = true)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
