// Cause: the state has no such field.
// Mend: name one that it has.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, store = sumary)]
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
