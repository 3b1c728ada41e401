// Cause: the output type stands in quotes, like a text.
// Mend: write the type itself, `output = Choice`.
// Token: "Choice"
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}", output = "Choice", state = World, retries = 2)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let choose = ChooseItem { goal: "open the door".into() };
    let _ = async { run.call(&choose).await.map(|choice| choice.item) };
    let _ = &run.state().inventory;
}
