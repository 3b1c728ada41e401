// Cause: The action of an arm is misspelt.
// Mend: Correct it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Serch => Search, Decision::Answer => Answer },
    Search => Decide,
    Answer => end,
}

fn main() {}
