// Cause: A parameter is written to a field that the state has not.
// Mend: Correct it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) { city: String => state.goul }: Search => end,
}

fn main() {}
