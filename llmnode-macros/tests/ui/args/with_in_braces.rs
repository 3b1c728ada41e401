// Cause: the variables of `with` stand in braces.
// Mend: write parentheses.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal} of {count}",
    output = Choice,
    state = World,
    with = { count = state.inventory.len() },
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
