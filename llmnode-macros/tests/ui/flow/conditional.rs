// Cause: A condition on a flow stands inside the macro.
// Mend: Write it above `flow!`.

use llmnode::flow;
use llmnode::prelude::*;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    #[cfg(debug_assertions)]
    Research(World): Search => end,
}

fn main() {
    let mut run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { goal: String::new(), part: Part { name: String::new() } });
    let _ = run.flow(Research);
}
