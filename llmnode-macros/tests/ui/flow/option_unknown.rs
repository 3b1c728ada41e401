// Cause: The flow has no such option.
// Mend: Write one of those that there are.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World), timeout = 50: Search => end,
}

fn main() {}
