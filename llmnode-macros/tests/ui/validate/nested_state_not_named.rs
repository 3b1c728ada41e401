// Cause: a field of the output has validators that take the state, and the output does not name it.
// Mend: write `#[llm_output(state = World)]` above the outer type.
// Token: #[llm_output]
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

mod step {
    use llmnode::prelude::*;

    #[llm_output]
    pub struct Step {
        pub item: String,
    }

    #[validate]
    impl Step {
        fn is_available(&self, world: &crate::World) -> Result<(), Invalid> {
            if world.inventory.contains(&self.item) { Ok(()) } else { Err(Invalid::new("not available")) }
        }
    }
}

#[llm_output]
struct Plan {
    steps: Vec<step::Step>,
}

#[llm_node(prompt = "Goal: {goal}", output = Plan, state = World, retries = 2)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let choose = ChooseItem { goal: "open the door".into() };
    let _ = run.call(&choose);
    let _ = &run.state().inventory;
}
