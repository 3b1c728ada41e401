// Cause: A step works on a part that the state has not.
// Mend: Correct the path.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Rename in state.prt => end,
}

fn main() {}
