// Cause: a path names a field that the state does not have.
// Mend: write the name of the field, `{state.inventory:list}`.
// Token: inventori
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}\nItems:\n{state.inventori:list}", output = Choice, state = World, retries = 2)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let choose = ChooseItem { goal: "open the door".into() };
    let _ = run.call(&choose);
    let _ = &run.state().inventory;
}
