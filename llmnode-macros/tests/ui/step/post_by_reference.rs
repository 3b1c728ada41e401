// Cause: `post` takes the node and the output by reference.
// Mend: take them by value.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, post = keep)]
struct Greet;

fn keep(_: &Greet, greeting: &String, state: &mut World) {
    state.text = greeting.clone();
}

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
