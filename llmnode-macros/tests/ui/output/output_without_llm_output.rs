// Cause: the answer's type can neither be read from JSON nor described to the model.
// Mend: put `#[llm_output]` above the struct.
// Token: struct Choice
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}", output = Choice, state = World, retries = 2)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let choose = ChooseItem { goal: "open the door".into() };
    let _ = run.call(&choose);
    let _ = &run.state().inventory;
}
