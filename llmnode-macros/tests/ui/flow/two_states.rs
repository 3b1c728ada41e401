// Cause: The flow names two states.
// Mend: Write one type that has both.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World, Part): Search => end,
}

fn main() {}
