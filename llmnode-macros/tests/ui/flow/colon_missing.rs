// Cause: Between the head of the flow and its first step stands no colon.
// Mend: Write it: `Research(World):`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World)
    Search => end,
}

fn main() {}
