// Cause: An arrow leads to a type, by its path.
// Mend: Write the label: the last name of the path, or what stands behind `as`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => world::Answer,
    world::Answer => end,
}

fn main() {}
