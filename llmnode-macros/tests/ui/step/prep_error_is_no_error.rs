// Cause: the error of a `Result` is of a type that is no error.
// Mend: let it implement `std::error::Error`, or be a text.
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {text}", state = World, store = summary)]
struct Summarize {
    #[prep(read(state))]
    text: String,
}

struct Unreadable;

fn read(state: &World) -> Result<String, Unreadable> {
    if state.count == 0 { Err(Unreadable) } else { Ok(state.text.clone()) }
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
