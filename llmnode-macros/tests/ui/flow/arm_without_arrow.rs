// Cause: An arm does not say where it leads.
// Mend: Write it: `Decision::Search => Search`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Search, Decision::Answer => end },
}

fn main() {}
