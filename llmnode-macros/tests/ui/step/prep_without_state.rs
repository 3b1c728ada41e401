// Cause: a field is prepared from the state, and the node names no state.
// Mend: write `state = Type`.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}")]
struct Summarize {
    #[prep(state.text.clone())]
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
