// Cause: The parentheses of `end` are empty.
// Mend: Write the action, or `end` alone.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => end(),
}

fn main() {}
