// Cause: Instead of a step stands a value.
// Mend: Write the type of a node or a flow.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    "search" => end,
}

fn main() {}
