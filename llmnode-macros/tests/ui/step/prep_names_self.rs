// Cause: `#[prep]` reads `self`, which is only being made.
// Mend: read the state.
use llmnode::prelude::*;

#[llm_node(prompt = "{text} {length}", state = World, store = summary)]
struct Summarize {
    #[prep(state.text.clone())]
    text: String,
    #[prep(self.text.len())]
    length: usize,
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
