// Cause: The flow does not name its state.
// Mend: Write it behind the name: `Research(World)`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research: Search => end,
}

fn main() {}
