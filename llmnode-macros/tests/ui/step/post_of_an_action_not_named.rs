// Cause: `post` returns an action, and the node names none.
// Mend: write `action = Type`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, post = keep)]
struct Greet;

fn keep(_: Greet, greeting: String, state: &mut World) -> bool {
    state.text = greeting;
    true
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
