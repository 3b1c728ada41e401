// Cause: a method of a `#[validate]` block is a helper of the validators.
// Mend: move it to another `impl` block.
// Token: is_known
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
    fn is_available(&self, world: &World) -> Result<(), Invalid> {
        if self.is_known(&world.inventory) { Ok(()) } else { Err(Invalid::new("not available")) }
    }

    fn is_known(&self, items: &[String]) -> bool {
        items.contains(&self.item)
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
