// Cause: A flow with parameters stands in another one without them.
// Mend: Write them: `Inner { goal: state.part.name.clone() }`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Inner(World) { goal: String }: Search => end,
}

flow! {
    Research(World): Inner => end,
}

fn main() {}
