// Cause: A flow with parameters stands in another one without them, over a part of its state.
// Mend: Write them: `Inner { name: state.goal.clone() } in state.part`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Inner(Part) { name: String }: Rename => end,
}

flow! {
    Research(World): Inner in state.part => end,
}

fn main() {}
