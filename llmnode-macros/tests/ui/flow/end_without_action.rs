// Cause: A flow with an action ends without one.
// Mend: Write it: `end(true)`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) -> bool:
    Search => end,
}

fn main() {}
