// Cause: No arrow leads to a step.
// Mend: Lead to it, or drop it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => end,
    Answer => end,
}

fn main() {}
