// Cause: the list is named without `state` before it.
// Mend: write `choices(item = state.inventory)`.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}", output = Choice, state = World, choices(item = inventory))]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
    let _ = &run.state().inventory;
}
