// Cause: An arrow leads to a batch by the name of its node; the batch's own label is `Batch`.
// Mend: Give it that label: `Batch<Summarize> as Summarize`.

use llmnode::prelude::*;
use llmnode::flow::Batch;

#[path = "world/mod.rs"]
mod world;
use world::{Search, World};

#[llm_node(prompt = "Summarize: {text}", state = World, batch = Summarize::all, post = Summarize::keep)]
struct Summarize {
    text: String,
}

impl Summarize {
    fn all(world: &World) -> Vec<Summarize> {
        vec![Summarize { text: world.goal.clone() }]
    }

    fn keep(_: Vec<Summarize>, summaries: Vec<String>, world: &mut World) {
        world.goal = summaries.concat();
    }
}

flow! {
    Research(World):
    Search => Summarize,
    Batch<Summarize> => end,
}

fn main() {}
