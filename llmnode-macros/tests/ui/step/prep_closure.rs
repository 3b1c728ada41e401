// Cause: a closure stands where the path of a function goes.
// Mend: name a function, or mark the fields `#[prep(..)]`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, prep = |_| Greet, store = summary)]
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
