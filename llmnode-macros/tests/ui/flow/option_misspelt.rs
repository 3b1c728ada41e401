// Cause: An option is misspelt.
// Mend: Correct it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World), step = 50: Search => end,
}

fn main() {}
