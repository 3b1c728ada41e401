// Cause: Between two steps stands no comma.
// Mend: Write it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Answer
    Answer => end,
}

fn main() {}
