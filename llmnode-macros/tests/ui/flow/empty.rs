// Cause: The flow has no step.
// Mend: Write at least one: `Search => end`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
}

fn main() {}
