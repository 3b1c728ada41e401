// Cause: The arms are those of another action.
// Mend: Match what the step decides: `Decision::Search => …, Decision::Answer => …`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => match { Level::Of(_) => Answer, Level::None => end },
    Answer => end,
}

fn main() {}
