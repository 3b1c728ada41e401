// Cause: An arrow leads to a type with a label, which is given where the step stands.
// Mend: Write `Search => Again`, and `Answer as Again => end`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Answer as Again,
    Answer => end,
}

fn main() {}
