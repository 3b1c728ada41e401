// Cause: A type that is no step stands in the flow.
// Mend: Make it a step, by the flow keys of `#[llm_node]` or by the trait `Step`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decision => end,
}

fn main() {}
