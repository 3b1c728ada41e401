// Cause: an argument has a name that is none and near none.
// Mend: write one of the names that the message lists.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}\n{state.inventory:list}",
    output = Choice,
    universe = World,
    retries = 2,
)]
struct ChooseItem {
    goal: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let answer = run.call(&ChooseItem { goal: "open the door".into() }).await?;
    println!("{}", answer.item);
    Ok(())
}
