// Cause: A node that has no `batch = path` stands in a flow as a batch.
// Mend: Give it `batch = path`, or write `Search` without `Batch`.

use llmnode::flow;
use llmnode::flow::Batch;

#[path = "world/mod.rs"]
mod world;
use world::*;

flow! {
    Research(World): Batch<Search> as Searches => end,
}

fn main() {}
