// Cause: An arrow leads to a label that no step has.
// Mend: Correct it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Search => Serch, Decision::Answer => Answer },
    Search => Decide,
    Answer => end,
}

fn main() {}
