// Cause: `post` returns the action, and `route` would, too.
// Mend: keep one of them.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, action = bool, route = is_long, post = keep)]
struct Greet;

fn is_long(greeting: &str, _: &World) -> bool {
    greeting.len() > 20
}

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
