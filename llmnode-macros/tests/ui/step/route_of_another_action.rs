// Cause: the function returns another type than the action.
// Mend: return the type that `action` names.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, action = bool, route = length)]
struct Greet;

fn length(greeting: &str, _: &World) -> usize {
    greeting.len()
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
