// Cause: The flow ends with an action, and does not say of which type.
// Mend: Write the type: `Research(World) -> bool`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Check => match { true => end(true), false => end(false) },
}

fn main() {}
