// Cause: a node that is executed once at most asks to be tried again.
// Mend: leave `fallback` and `bubble` alone.
use llmnode::prelude::*;

#[llm_node(prompt = "Pay {amount}.", state = World, recover(timeout = [retry(1), bubble]), idempotent = false)]
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
