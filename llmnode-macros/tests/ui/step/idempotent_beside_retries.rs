// Cause: a node that is executed once at most asks to be tried again.
// Mend: drop one of them.
use llmnode::prelude::*;

#[llm_node(prompt = "Pay {amount}.", output = bool, state = World, retries = 2, idempotent = false)]
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
