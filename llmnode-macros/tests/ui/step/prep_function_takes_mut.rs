// Cause: the function that prepares wants to write to the state.
// Mend: take `&State`; a step writes in `store` or `post`.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, prep = Summarize::new, store = summary)]
struct Summarize {
    text: String,
}

impl Summarize {
    fn new(state: &mut World) -> Self {
        Self { text: std::mem::take(&mut state.text) }
    }
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
