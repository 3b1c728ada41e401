// Cause: the state of the run holds a `RefCell`, and calls on several threads read one state.
// Mend: hold a `Mutex` or an `RwLock` instead.
use std::cell::RefCell;

use llmnode::llm_node;

struct World {
    visits: RefCell<u32>,
}

#[llm_node(prompt = "About {topic}")]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { visits: RefCell::new(0) });
    let node = Summarize { topic: "rain".into() };
    let _ = run.call(&node);
    let _ = &run.state().visits;
}
