// Cause: An arm has a condition.
// Mend: Decide in `post` or `route`, by an action of its own.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Search if true => Search, Decision::Search | Decision::Answer => Answer },
    Search => Decide,
    Answer => end,
}

fn main() {}
