// Cause: A parameter has another type than the field that it is written to.
// Mend: Give it the type of the field, or one that the field can be made of by `Into`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) { goal: u8 }: Search => end,
}

fn main() {}
