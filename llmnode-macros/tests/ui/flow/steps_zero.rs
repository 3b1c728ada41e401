// Cause: The flow may take no step at all.
// Mend: Write at least 1, or drop the option.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World), steps = 0: Search => end,
}

fn main() {}
