// Cause: The steps stand in braces.
// Mend: Write a colon before the first step, and no braces.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) {
        Search => end,
    }
}

fn main() {}
