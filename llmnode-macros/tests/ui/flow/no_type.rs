// Cause: A step that does not exist stands in the flow.
// Mend: Correct its name, or import it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Serch => end,
}

fn main() {}
