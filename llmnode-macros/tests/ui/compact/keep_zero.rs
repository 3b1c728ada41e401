// Cause: no round would stay.
// Mend: keep one or more.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(keep = 0))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
