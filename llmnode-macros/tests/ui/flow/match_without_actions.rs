// Cause: A step that decides nothing has arms.
// Mend: Write a plain arrow: `Search => Answer`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => match { Decision::Search => Answer, Decision::Answer => end },
    Answer => end,
}

fn main() {}
