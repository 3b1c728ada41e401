// Cause: the prompt inserts images as if they were a text.
// Mend: write `{photos:attach}`.
use llmnode::{Image, prelude::*};

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {goal} {photos}", output = Choice, state = World)]
struct ChooseItem {
    goal: String,
    photos: Vec<Image>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new()).with_state(World { inventory: vec![] });
    let answer = run.call(&ChooseItem { goal: "a".into(), photos: vec![] }).await?;
    println!("{}", answer.item);
    Ok(())
}
