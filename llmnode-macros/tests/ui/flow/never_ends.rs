// Cause: No arrow leads to `end`.
// Mend: Write `=> end` behind the last step.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Answer,
    Answer => Search,
}

fn main() {}
