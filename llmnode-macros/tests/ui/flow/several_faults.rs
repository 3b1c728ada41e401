// Cause: Several mistakes are told in one run.
// Mend: Mend each.
// Errors: 3

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) -> bool, step = 50:
    Decide => match { Decision::Serch => Search, _ => Answer },
    "search" => end,
    Answer end,
}

fn main() {}
