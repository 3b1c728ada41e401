// Cause: the attribute of the field is misspelt.
// Mend: write `#[prep(..)]`.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, store = summary)]
struct Summarize {
    #[perp(state.text.clone())]
    text: String,
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
