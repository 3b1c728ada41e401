// Cause: `Run::new` gets the state beside the model.
// Mend: write `Run::new(model).with_state(world)`.
// Errors: 2
// Missed: rustc proposes to remove the argument; the second error names `with_state`.
// Token: World { inventory: vec![] }
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_node(prompt = "Choose one.\n{state.inventory:list}", state = World)]
struct Choose;

fn main() {
    let run = Run::new(ScriptedModel::new(), World { inventory: vec![] });
    let _ = run.call(&Choose);
}
