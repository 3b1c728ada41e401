// Cause: A step is called `end`.
// Mend: Choose another label.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search as end => Answer,
    Answer => end,
}

fn main() {}
