// Cause: a path names a field that the state does not have.
// Mend: write the name of the field, `{state.inventory:list}`.
// Token: inventry
use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
    gold: u32,
}

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    system = "You are a careful adventurer.",
    prompt = "Goal: {goal}\nYou have {state.gold} coins and:\n{state.inventry:list}\nChoose one.",
    output = Choice,
    state = World,
)]
struct ChooseItem {
    goal: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let world = World { inventory: vec!["key".into(), "lamp".into()], gold: 3 };
    let run = Run::new(ScriptedModel::new().reply(r#"{"item": "key"}"#)).with_state(world);
    let choice = run.call(&ChooseItem { goal: "open the door".into() }).await?;
    println!("{}", choice.item);
    Ok(())
}
