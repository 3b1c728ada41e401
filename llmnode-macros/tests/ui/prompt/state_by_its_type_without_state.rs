// Cause: the prompt reads a part of something that is no field, on a node without a state.
// Mend: name the type of the state, and read its part by `state`.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}\n{world.inventory:list}", output = Choice)]
struct ChooseItem {
    goal: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let answer = run.call(&ChooseItem { goal: "open the door".into() }).await?;
    println!("{}", answer.item);
    Ok(())
}
