// Cause: the validator returns whether the answer is good.
// Mend: return `Result<(), Invalid>`, so that the model is told what is wrong.
// Token: bool
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
    fn is_available(&self, world: &World) -> bool {
        world.inventory.contains(&self.item)
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
