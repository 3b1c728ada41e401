// Cause: `flow!` is written as an expression.
// Mend: write `flow!` beside the other items, and its name in the call: `run.flow(Work)`.
// Token: flow! { Work(World): Summarize => end }
use llmnode::prelude::*;

#[derive(Default)]
struct World {
    text: String,
    summary: String,
}

#[llm_node(prompt = "Summarize:\n{text}", state = World, store = summary)]
struct Summarize {
    #[prep(state.text.clone())]
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let work = flow! { Work(World): Summarize => end };
    run.flow(work).await
}
