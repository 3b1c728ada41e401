// Cause: a function decides, and nothing says what type it returns.
// Mend: write `action = Type`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, route = is_long)]
struct Greet;

fn is_long(greeting: &str, _: &World) -> bool {
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
