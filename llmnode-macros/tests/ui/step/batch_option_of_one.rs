// Cause: the function of `batch` returns an `Option` of one node.
// Mend: return `Vec<Self>`, or a `Result` of it.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, batch = Summarize::first, store = summaries)]
struct Summarize {
    text: String,
}

impl Summarize {
    fn first(world: &World) -> Option<Self> {
        let text = world.texts.first()?;
        Some(Summarize { text: text.clone() })
    }
}

struct World {
    texts: Vec<String>,
    summaries: Vec<String>,
}

fn main() {}
