// Cause: `?` stands in `#[prep]`.
// Mend: leave it out: a `Result` is taken as it is.
use llmnode::prelude::*;

#[llm_node(prompt = "Repeat: {n}", state = World, store = summary)]
struct Repeat {
    #[prep(state.text.parse::<u8>()?)]
    n: u8,
}

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Repeat>();
}
