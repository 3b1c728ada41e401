// Cause: a field is prepared twice.
// Mend: keep one `#[prep]`.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, store = summary)]
struct Summarize {
    #[prep(state.text.clone())]
    #[prep(String::new())]
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
