// Cause: A parameter is written to something else than a field of the state.
// Mend: Write a path of fields: `state.goal`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) { city: String => goal }: Search => end,
}

fn main() {}
