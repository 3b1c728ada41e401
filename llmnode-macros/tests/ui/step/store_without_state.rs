// Cause: the output is stored, and the node names no state.
// Mend: write `state = Type`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", store = summary)]
struct Greet;

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Greet>();
}
