// Cause: Two parameters have one name.
// Mend: Rename one of them.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) { goal: String, goal: String }: Search => end,
}

fn main() {}
