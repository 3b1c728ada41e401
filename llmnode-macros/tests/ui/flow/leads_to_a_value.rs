// Cause: An arrow leads to something that is no step.
// Mend: Write a label, `end` or `todo!()`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => 5,
}

fn main() {}
