// Cause: One step stands side by side with nothing.
// Mend: Write it without parentheses.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    (Search,) as Gather => end,
}

fn main() {}
