// Cause: A parameter has the name of no field of the state.
// Mend: Name the field: `city: String => state.goal`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) { city: String }: Search => end,
}

fn main() {}
