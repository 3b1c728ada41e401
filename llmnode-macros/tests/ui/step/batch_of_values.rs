// Cause: the function of the batch gives something else than nodes.
// Mend: give the nodes.
use llmnode::flow::Batch;
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, batch = each, store = summaries)]
struct Summarize {
    text: String,
}

fn each(state: &World) -> Vec<String> {
    state.files.clone()
}

#[derive(Default)]
struct World {
    files: Vec<String>,
    summaries: Vec<String>,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Batch<Summarize>>();
}
