// Cause: Behind the `->` stands no type.
// Mend: Write the type of what `end(…)` gives.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) -> 5: Search => end,
}

fn main() {}
