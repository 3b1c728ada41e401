// Cause: What an action holds is bound in an arm that leads to a step.
// Mend: Write it to the state in `post`, and prepare the step from there; only `end(…)` can take it.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Grade => match { Level::Of(level) => Answer { text: level }, Level::None => end },
    Answer => end,
}

fn main() {}
