// Cause: `#[prep]` stands on the node.
// Mend: mark the fields, or name a function by `prep = path`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, store = summary)]
#[prep(Greet)]
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
