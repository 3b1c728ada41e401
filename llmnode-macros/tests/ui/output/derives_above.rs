// Cause: `#[llm_output]` stands below the derives, and would derive the same again.
// Mend: move `#[llm_output]` above them, or drop the derives.
// Token: #[llm_output]
// Errors: 2
// Missed: rustc reports each trait that is derived twice; no macro sees the derives above it.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[llm_output]
struct Choice {
    item: String,
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
