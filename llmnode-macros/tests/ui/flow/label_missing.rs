// Cause: Steps side by side have no label.
// Mend: Write one: `(Search, Answer) as Gather`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    (Search, Answer) => end,
}

fn main() {}
