// Cause: the `impl` block's attribute names the state, which its methods name already.
// Mend: write `#[validate]`.
// Token: World
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[validate(World)]
impl Choice {
    fn is_available(&self, world: &World) -> Result<(), Invalid> {
        if world.inventory.contains(&self.item) { Ok(()) } else { Err(Invalid::new("not available")) }
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
