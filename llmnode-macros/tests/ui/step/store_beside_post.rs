// Cause: `post` writes the output, and `store` would, too.
// Mend: keep one of them.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, store = summary, post = keep)]
struct Greet;

fn keep(_: Greet, greeting: String, state: &mut World) {
    state.text = greeting;
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
