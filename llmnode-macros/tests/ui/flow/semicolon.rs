// Cause: Between two steps stands a semicolon.
// Mend: Write a comma.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Answer;
    Answer => end,
}

fn main() {}
