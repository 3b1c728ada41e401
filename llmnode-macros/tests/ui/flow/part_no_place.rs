// Cause: A step works on something else than a part of the state.
// Mend: Write a path of fields: `state.part`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Rename in state.parts() => end,
}

fn main() {}
