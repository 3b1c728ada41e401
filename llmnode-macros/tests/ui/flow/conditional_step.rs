// Cause: A step stands in the flow in some builds only.
// Mend: Write the flow once for each build, below `#[cfg(…)]`.

use llmnode::flow;
use llmnode::prelude::*;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    #[cfg(debug_assertions)]
    Search => Answer,
    Answer => end,
}

fn main() {
    let mut run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World { goal: String::new(), part: Part { name: String::new() } });
    let _ = run.flow(Research);
}
