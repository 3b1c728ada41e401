// Cause: the function that decides is `async`.
// Mend: decide without waiting, or in a step of its own.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, action = bool, route = is_long)]
struct Greet;

async fn is_long(greeting: &str, _: &World) -> bool {
    greeting.len() > 20
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
