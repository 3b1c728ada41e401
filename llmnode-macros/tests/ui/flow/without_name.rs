// Cause: The flow has no name.
// Mend: Begin with name and state: `Research(World): …`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    (World): Search => end,
}

fn main() {}
