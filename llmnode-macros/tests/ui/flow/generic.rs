// Cause: The flow has a type parameter.
// Mend: Write a flow for each state.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research<S>(World): Search => end,
}

fn main() {}
