// Cause: the prompt forgets a field, which is a list.
// Mend: insert it as the message says.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal}", output = Choice, state = World)]
struct ChooseItem {
    goal: String,
    items: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let answer = run.call(&ChooseItem { goal: "a".into(), items: vec![] }).await?;
    println!("{}", answer.item);
    Ok(())
}
