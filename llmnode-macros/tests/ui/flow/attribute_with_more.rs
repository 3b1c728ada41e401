// Cause: In the brackets of an attribute stands more than an attribute.
// Mend: Drop what is too much.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    #[doc = "Finds it." hidden]
    Research(World): Search => end,
}

fn main() {}
