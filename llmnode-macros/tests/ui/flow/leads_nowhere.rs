// Cause: A step has no arrow.
// Mend: Write where it leads, or `=> end`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Answer,
    Answer,
}

fn main() {}
