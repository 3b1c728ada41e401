// Cause: A flow with a fault is used elsewhere.
// Mend: Mend the fault; its uses are well.

use llmnode::{flow, flow::RunExt};

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Outer(World): Research => end,
}

flow! {
    Research(World): Search -> end,
}

fn main() {
    let mut run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(state());
    let _ = run.flow(Research);
    let _ = run.flow(Outer);
}

fn state() -> World {
    World { goal: String::new(), part: Part { name: String::new() } }
}
