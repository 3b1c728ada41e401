// Cause: a field of the node holds a `Cell`, which stays on one thread.
// Mend: hold the value itself, an atomic, or a `Mutex`.
use std::cell::Cell;

use llmnode::llm_node;

#[llm_node(prompt = "About {topic} with {score:?}")]
struct Rate {
    topic: String,
    score: Cell<u8>,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into(), score: Cell::new(1) });
}
