// Cause: The step can decide something for which the flow has no arm.
// Mend: Write an arm for it; `todo!()` is a target, too.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Decision::Search => end },
}

fn main() {}
