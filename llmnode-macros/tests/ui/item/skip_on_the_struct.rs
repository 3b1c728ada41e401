// Cause: `#[node(skip)]` marks one field, and stands on the struct.
// Mend: move it to the field that no prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}")]
#[node(skip)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
