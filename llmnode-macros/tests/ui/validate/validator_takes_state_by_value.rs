// Cause: a validator takes the state itself, and the run lends it.
// Mend: write `world: &World`.
// Token: World
// Token: world: World
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[validate(state)]
impl Choice {
    fn item_is_available(&self, world: World) -> Result<(), Invalid> {
        if world.inventory.contains(&self.item) {
            return Ok(());
        }
        Err(Invalid::at("item", "not available").allowed(&world.inventory))
    }
}

#[llm_node(prompt = "Goal: {goal}\n{state.inventory:list}", output = Choice, state = World, retries = 2)]
struct ChooseItem {
    goal: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let world = World { inventory: vec!["key".into()] };
    let run = Run::new(ScriptedModel::new().reply(r#"{"item": "key"}"#)).with_state(world);
    println!("{}", run.call(&ChooseItem { goal: "open the door".into() }).await?.item);
    Ok(())
}
