// Cause: What stands in the brackets of an attribute is none.
// Mend: Write an attribute, or docs: `/// Finds it.`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    #["Finds it."]
    Research(World): Search => end,
}

fn main() {}
