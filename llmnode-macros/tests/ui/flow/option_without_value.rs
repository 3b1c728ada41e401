// Cause: An option has no value.
// Mend: Write it: `steps = 50`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World), steps: Search => end,
}

fn main() {}
