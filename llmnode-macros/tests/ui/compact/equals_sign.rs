// Cause: `compact` is written with an equals sign.
// Mend: write `compact`, or `compact(keep = 6)`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact = 6)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
