// Cause: Behind `as` stands something else than a name.
// Mend: Write a name.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search as "again" => end,
}

fn main() {}
