// Cause: A step stands in the flow twice.
// Mend: Give the second a label: `Search as Again`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Answer,
    Answer => end,
    Search => end,
}

fn main() {}
