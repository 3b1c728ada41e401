// Cause: `idempotent` takes no text.
// Mend: write `idempotent = false`.
use llmnode::prelude::*;

#[llm_node(prompt = "Pay {amount}.", state = World, idempotent = "no")]
struct Pay {
    #[prep(state.count)]
    amount: u32,
}

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Pay>();
}
