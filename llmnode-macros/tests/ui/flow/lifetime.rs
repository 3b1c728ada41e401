// Cause: A step borrows.
// Mend: Let the node hold what it needs.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

pub struct Translate<'a> {
    pub text: &'a str,
}

flow! {
    Research(World):
    Translate<'_> => end,
}

fn main() {}
