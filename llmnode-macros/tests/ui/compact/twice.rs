// Cause: `compact` is given twice.
// Mend: drop one of them.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact, compact(keep = 2))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
