// Cause: the function that prepares returns something else than the node.
// Mend: return the node, or a `Result` of it.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, prep = text, store = summary)]
struct Summarize {
    text: String,
}

fn text(state: &World) -> String {
    state.text.clone()
}

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Summarize>();
}
