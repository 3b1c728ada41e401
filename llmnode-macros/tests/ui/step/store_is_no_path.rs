// Cause: `store` is no path of fields.
// Mend: name a field, or write the output by `post = path`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, store = texts.push())]
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
