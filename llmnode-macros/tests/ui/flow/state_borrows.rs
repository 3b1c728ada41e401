// Cause: The state of the flow borrows.
// Mend: Let the state own what it holds.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

pub struct Lent<'a> {
    pub world: &'a World,
}

flow! {
    Research(Lent<'_>): Search => end,
}

fn main() {}
