// Cause: the function of `batch` returns a `Result` of one node.
// Mend: return a `Result` of a `Vec`: `Result<Vec<Self>, String>`.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, batch = Summarize::first, store = summaries)]
struct Summarize {
    text: String,
}

impl Summarize {
    fn first(world: &World) -> Result<Self, String> {
        let text = world.texts.first().ok_or("nothing to summarize")?;
        Ok(Summarize { text: text.clone() })
    }
}

struct World {
    texts: Vec<String>,
    summaries: Vec<String>,
}

fn main() {}
