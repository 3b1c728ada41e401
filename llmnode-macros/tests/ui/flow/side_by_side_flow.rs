// Cause: A flow stands beside a step.
// Mend: Let the flow follow the step, or stand before it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Inner(World): Search => end,
}

flow! {
    Research(World): (Answer, Inner) as Both => end,
}

fn main() {}
