// Cause: all outputs of a batch are stored in a field of another type.
// Mend: store them where a `Vec` of them goes, or write them by `post = path`.
use llmnode::flow::Batch;
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", output = u8, state = World, batch = each, store = summaries)]
struct Summarize {
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
