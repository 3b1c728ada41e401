// Cause: the validator's error is a text.
// Mend: return `Result<(), Invalid>`, and `Err(Invalid::new("…"))`.
// Token: Result<(), String>
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
    fn is_available(&self, world: &World) -> Result<(), String> {
        if world.inventory.contains(&self.item) { Ok(()) } else { Err("not available".into()) }
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
