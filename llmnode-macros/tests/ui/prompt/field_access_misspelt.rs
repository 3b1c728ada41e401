// Cause: the prompt reads inside a field whose name is misspelt.
// Mend: write the name that the message proposes, and declare its part by `with`.
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Goal: {gaol.name}", output = Choice, state = World)]
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
