// Cause: Some of the steps lead to each other alone.
// Mend: Lead from one of them to `end`, or to a step that comes to it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Search => Search, Decision::Answer => end },
    Search => Answer,
    Answer => Search,
}

fn main() {}
