// Cause: A value has no name.
// Mend: Write it: `steps = 50`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World), 50: Search => end,
}

fn main() {}
