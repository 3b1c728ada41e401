// Cause: a word of other libraries for when it happens.
// Mend: write `at`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(threshold = 100_000))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
