// Cause: a function makes the whole node, and a field is prepared by itself, too.
// Mend: keep one of them.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, prep = Summarize::new, store = summary)]
struct Summarize {
    #[prep(state.text.clone())]
    text: String,
}

impl Summarize {
    fn new(state: &World) -> Self {
        Self { text: state.text.clone() }
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
