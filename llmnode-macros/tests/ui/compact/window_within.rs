// Cause: the window stands within `compact`.
// Mend: write it beside.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", compact(window = 8_192))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
