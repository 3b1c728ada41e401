// Cause: `concurrency` stands on a node that is no batch.
// Mend: name the function that makes the nodes, `batch = path`, or drop it.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, prep = Summarize::new, concurrency = 4, store = summaries)]
struct Summarize {
    text: String,
}

impl Summarize {
    fn new(state: &World) -> Self {
        Self { text: state.files.join(" ") }
    }
}

#[derive(Default)]
struct World {
    files: Vec<String>,
    summaries: Vec<String>,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Summarize>();
}
