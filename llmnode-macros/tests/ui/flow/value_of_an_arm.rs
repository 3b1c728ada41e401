// Cause: A step is prepared from what an arm binds, which is known in that arm alone.
// Mend: Write it to the state in `post`, and take it from there: `Answer { text: state.goal.clone() }`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Grade => match { Level::Of(level) => Answer, Level::None => end },
    Answer { text: level } => end,
}

fn main() {}
