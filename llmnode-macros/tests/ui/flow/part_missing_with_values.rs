// Cause: A flow with parameters over a part of the state stands without that part.
// Mend: Name it: `Inner { name: state.goal.clone() } in state.part`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Inner(Part) { name: String }: Rename => end,
}

flow! {
    Research(World): Inner { name: state.goal.clone() } => end,
}

fn main() {}
