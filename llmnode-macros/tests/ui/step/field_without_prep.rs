// Cause: the node is a step of flows, and nothing says how one of its fields is made.
// Mend: mark the field `#[prep(..)]`, or make the node by a function.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize {title}: {text}", state = World, store = summary)]
struct Summarize {
    #[prep(state.text.clone())]
    text: String,
    title: String,
}

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Summarize>();
}
