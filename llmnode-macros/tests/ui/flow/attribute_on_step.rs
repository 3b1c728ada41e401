// Cause: A step has an attribute that says nothing there.
// Mend: Drop it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    #[inline]
    Search => end,
}

fn main() {}
