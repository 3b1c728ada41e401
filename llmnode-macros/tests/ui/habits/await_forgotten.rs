// Cause: the call is not awaited, so nothing is asked.
// Mend: write `run.call(&choose).await?`.
// Token: run.call(&choose)
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}", output = Choice, state = World, retries = 2)]
struct ChooseItem {
    goal: String,
}

async fn choose(run: &Run<World>) -> Result<String, NodeError> {
    let choose = ChooseItem { goal: "open the door".into() };
    let choice = run.call(&choose)?;
    Ok(choice.item)
}

fn main() {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let _ = choose(&run);
    let _ = &run.state().inventory;
}
