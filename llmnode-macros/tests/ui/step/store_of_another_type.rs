// Cause: the output does not become what the field holds.
// Mend: store it in another field, or write it by `post = path`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, store = count)]
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
