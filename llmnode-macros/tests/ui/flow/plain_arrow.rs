// Cause: A step that decides between actions has a plain arrow.
// Mend: Write `=> match { … }` with an arm for each action.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Decide => Answer,
    Answer => end,
}

fn main() {}
