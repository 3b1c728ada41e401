// Cause: An arrow is written `->`.
// Mend: Write `=>`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search -> Answer,
    Answer => end,
}

fn main() {}
