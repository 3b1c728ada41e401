// Cause: a step of flows borrows.
// Mend: let its fields own their values.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, store = summary)]
struct Summarize<'a> {
    #[prep(&state.text)]
    text: &'a str,
}

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let _ = Run::new(ScriptedModel::new()).with_state(World::default());
}
