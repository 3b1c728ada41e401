// Cause: the future of the function that prepares holds what cannot move to another thread.
// Mend: drop it before the `.await`, or hold something that is `Send`.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, prep = load, store = summary)]
struct Summarize {
    text: String,
}

async fn load(state: &World) -> Summarize {
    let text = std::rc::Rc::new(state.text.clone());
    std::future::ready(()).await;
    Summarize { text: text.to_string() }
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
