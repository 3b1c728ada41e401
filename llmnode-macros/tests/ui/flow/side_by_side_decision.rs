// Cause: A step that decides between actions stands beside another one.
// Mend: Let it follow the others.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): (Search, Decide) as Both => end,
}

fn main() {}
