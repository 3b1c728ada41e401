// Cause: the node names a state, and the run has none.
// Mend: write `Run::new(model).with_state(world)`.
// Missed: the underline is where node and run meet; the run may have been made anywhere.
// Token: Run::new(ScriptedModel::new())
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}", output = Choice, state = World, retries = 2)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let choose = ChooseItem { goal: "open the door".into() };
    let _ = run.call(&choose);
    let _ = World { inventory: vec![] }.inventory;
}
