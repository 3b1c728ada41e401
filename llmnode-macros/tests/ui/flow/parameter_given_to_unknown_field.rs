// Cause: A step is given a value for a field that it has not.
// Mend: Correct the name.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Search { txt: state.goal.clone() } => end,
}

fn main() {}
