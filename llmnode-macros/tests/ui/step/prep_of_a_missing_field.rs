// Cause: the expression names a field that the state does not have.
// Mend: name one that it has.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, store = summary)]
struct Summarize {
    #[prep(state.txt.clone())]
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
