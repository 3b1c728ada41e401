// Cause: the block says that its validators take the state, and none does.
// Mend: write `#[validate]`, or take the state as a parameter.
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
    fn is_short(&self) -> Result<(), Invalid> {
        Ok(())
    }
}

#[llm_node(prompt = "Goal: {goal}", output = Choice, state = World)]
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
