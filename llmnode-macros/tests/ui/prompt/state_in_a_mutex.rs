// Cause: the state is a `Mutex`, and the prompt reads a field of what it holds.
// Mend: declare the value, `with(n = state.lock().unwrap().gold)`.
use std::sync::{Arc, Mutex};

use llmnode::llm_node;

struct World {
    gold: u32,
}

#[llm_node(prompt = "You have {state.gold} coins.", state = Arc<Mutex<World>>)]
struct Ask;

fn main() {
    let world = Arc::new(Mutex::new(World { gold: 1 }));
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(world);
    let _ = run.call(&Ask);
}
