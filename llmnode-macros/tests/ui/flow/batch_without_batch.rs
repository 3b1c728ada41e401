// Cause: A node with `batch = path` stands in a flow as one node.
// Mend: Write `Batch<Summarize> as Summarize`.

use llmnode::prelude::*;

struct World {
    texts: Vec<String>,
    summaries: Vec<String>,
}

#[llm_node(prompt = "Summarize: {text}", state = World, batch = Summarize::all, store = summaries)]
struct Summarize {
    text: String,
}

impl Summarize {
    fn all(world: &World) -> Vec<Summarize> {
        world.texts.iter().map(|text| Summarize { text: text.clone() }).collect()
    }
}

flow! {
    Shorten(World): Summarize => end,
}

fn main() {}
