// Cause: In the braces behind a step stand no values of fields.
// Mend: Name the fields: `Search { text: state.goal.clone() }`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Search { state.goal.clone() } => end,
}

fn main() {}
