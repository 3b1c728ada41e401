// Cause: An arm takes all actions that are left.
// Mend: Name the actions: one that is added later is then an error, not a wrong way.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Search => Search, _ => Answer },
    Search => Decide,
    Answer => end,
}

fn main() {}
