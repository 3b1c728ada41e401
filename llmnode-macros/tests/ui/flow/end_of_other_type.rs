// Cause: The flow ends with a value of another type than it says.
// Mend: Write one of the type behind `->`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World) -> bool:
    Search => end("found"),
}

fn main() {}
