// Cause: A step over another state stands in the flow.
// Mend: Name the part of the state that it works on: `Rename in state.part`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Rename,
    Rename => end,
}

fn main() {}
