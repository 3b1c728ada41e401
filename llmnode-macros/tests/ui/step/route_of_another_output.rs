// Cause: the function takes another type than the output.
// Mend: take a reference to the output.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, action = bool, route = is_long)]
struct Greet;

fn is_long(length: &usize, _: &World) -> bool {
    *length > 20
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
