// Cause: An arrow leads to a step that the flow has not.
// Mend: Lead to one of its steps, or add the step.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Summarize,
}

fn main() {}
