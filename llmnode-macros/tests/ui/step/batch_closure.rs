// Cause: a closure stands where the path of `batch` goes.
// Mend: make it a function, and write its path.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, batch = |_| vec![Greet])]
struct Greet;

#[derive(Default)]
struct World {
    summary: Option<String>,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Greet>();
}
