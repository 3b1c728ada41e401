// Cause: Behind `match` stands what is matched.
// Mend: Drop it: it is always what the step decides.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match action { Decision::Search => end, Decision::Answer => end },
}

fn main() {}
