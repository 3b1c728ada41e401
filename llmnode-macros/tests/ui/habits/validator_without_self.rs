// Cause: the validator takes the answer as a parameter of its own.
// Mend: write `&self`.
// Token: is_available
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn is_available(choice: &Choice, world: &World) -> Result<(), Invalid> {
        if world.inventory.contains(&choice.item) { Ok(()) } else { Err(Invalid::new("not available")) }
    }
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
