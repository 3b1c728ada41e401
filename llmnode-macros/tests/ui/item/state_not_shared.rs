// Cause: the state holds a `Cell`, and calls on several threads read one state.
// Mend: hold an atomic or a `Mutex` instead.
use std::cell::Cell;

use llmnode::llm_node;

struct World {
    visits: Cell<u32>,
}

#[llm_node(prompt = "About {topic}", state = World)]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { visits: Cell::new(0) });
    let _ = run.call(&Summarize { topic: "rain".into() });
    let _ = run.state().visits.get();
}
