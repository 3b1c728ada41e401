// Cause: the validator would change the state, which validators only read.
// Mend: write `&World`, and change the state after the call.
// Token: &mut World
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
    fn is_available(&self, world: &mut World) -> Result<(), Invalid> {
        world.inventory.retain(|item| *item != self.item);
        Ok(())
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
