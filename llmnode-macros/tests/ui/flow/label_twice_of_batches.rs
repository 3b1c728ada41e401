// Cause: Two batches have no label of their own.
// Mend: Write `Batch<Translate> as Translate => end`.

use llmnode::prelude::*;
use llmnode::flow::Batch;

struct World {
    texts: Vec<String>,
}

#[llm_node(prompt = "Summarize: {text}", state = World, batch = Summarize::all, store = texts)]
struct Summarize {
    text: String,
}

impl Summarize {
    fn all(world: &World) -> Vec<Summarize> {
        world.texts.iter().map(|text| Summarize { text: text.clone() }).collect()
    }
}

#[llm_node(prompt = "Translate: {text}", state = World, batch = Translate::all, store = texts)]
struct Translate {
    text: String,
}

impl Translate {
    fn all(world: &World) -> Vec<Translate> {
        world.texts.iter().map(|text| Translate { text: text.clone() }).collect()
    }
}

flow! {
    Shorten(World):
    Batch<Summarize> => Batch,
    Batch<Translate> => end,
}

fn main() {}
