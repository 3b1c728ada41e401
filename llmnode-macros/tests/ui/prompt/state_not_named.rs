// Cause: the prompt reads the state, and the node does not name its type.
// Mend: add `state = World`.
// Token: {state.inventory:list}
// Judged: the mend only adds an argument; the variable that asks for it stands in the same attribute, and goes if none is meant.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}\nItems:\n{state.inventory:list}", output = Choice, retries = 2)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let choose = ChooseItem { goal: "open the door".into() };
    let _ = run.call(&choose);
    let _ = &run.state().inventory;
}
