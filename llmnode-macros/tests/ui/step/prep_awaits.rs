// Cause: `.await` stands in `#[prep]`.
// Mend: prepare the node by an `async` function: `prep = path`.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, store = summary)]
struct Summarize {
    #[prep(load(state).await)]
    text: String,
}

async fn load(state: &World) -> String {
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
