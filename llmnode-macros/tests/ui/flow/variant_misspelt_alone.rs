// Cause: The action of an arm is misspelt, and named without its enum.
// Mend: Correct it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::Decision::{Answer, Search};
use world::*;

flow! {
    Research(World):
    Decide => match { Serch => end, Answer => end },
}

fn main() {}
