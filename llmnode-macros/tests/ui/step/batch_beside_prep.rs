// Cause: a function makes all nodes of the batch, and a field is prepared by itself, too.
// Mend: keep one of them.
use llmnode::flow::Batch;
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, batch = each, store = summaries)]
struct Summarize {
    #[prep(state.files[0].clone())]
    text: String,
}

fn each(state: &World) -> Vec<Summarize> {
    state.files.iter().map(|text| Summarize { text: text.clone() }).collect()
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
