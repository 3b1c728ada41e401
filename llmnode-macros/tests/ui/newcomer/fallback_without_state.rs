// Cause: the fallback of a node with a state does not take the state.
// Mend: write `fn guess(&self, world: &World, error: &NodeError) -> u8`.
// Missed: the argument is underlined; the function stands elsewhere.
// Token: fn guess
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_node(prompt = "How far is it to {goal}, from 1 to 10?", output = u8, state = World, fallback = ChooseItem::guess)]
struct ChooseItem {
    goal: String,
}

impl ChooseItem {
    fn guess(&self, _: &NodeError) -> u8 {
        5
    }
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let choose = ChooseItem { goal: "open the door".into() };
    let _ = run.call(&choose);
    let _ = &run.state().inventory;
}
