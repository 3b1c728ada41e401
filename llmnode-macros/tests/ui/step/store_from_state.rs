// Cause: the path of `store` begins with `state`.
// Mend: leave `state` out.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, store = state.summary)]
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
