// Cause: An arrow leads to a batch by its type, and not by the step's label.
// Mend: Write `Search => Batch`, or `Batch<Summarize> as Summarize` where it stands, and `Search => Summarize`.

use llmnode::flow;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World):
    Search => Batch<Answer>,
    Batch<Answer> => end,
}

fn main() {}
