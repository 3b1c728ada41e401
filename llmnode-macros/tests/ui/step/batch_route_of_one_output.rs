// Cause: the route of a batch takes one output.
// Mend: take all of them: `&Vec<Output>`.
use llmnode::flow::Batch;
use llmnode::prelude::*;

#[llm_node(prompt = "Rate: {text}", output = u8, state = World, batch = each, action = bool, route = is_good)]
struct Summarize {
    text: String,
}

fn each(state: &World) -> Vec<Summarize> {
    state.files.iter().map(|text| Summarize { text: text.clone() }).collect()
}

fn is_good(rate: &u8, _: &World) -> bool {
    *rate > 5
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
