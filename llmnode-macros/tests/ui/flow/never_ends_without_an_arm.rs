// Cause: a `match` lacks the arm that leads to `end`.
// Mend: write `Decision::Answer => end` into the `match`.
// Token: Research
// Token: Decide

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Search => Search },
    Search => Decide,
}

fn main() {}
