// Cause: The run has another state than the flow.
// Mend: Give the run the state of the flow: `.with_state(World { … })`.

use llmnode::{flow, flow::RunExt};

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Search => end,
}

fn main() {
    let mut run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.flow(Research);
}
