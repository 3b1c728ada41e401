// Cause: `ChooseDish` reads the state `Menu`, but the run was made without a state.
// Mend: write `Run::new(model).with_state(menu())`.
// Token: Run::new(model)
// Token: run.call(&node)
// Token: call
// Token: &node
// Token: run
use llmnode::prelude::*;

struct Menu {
    dishes: Vec<String>,
}

fn menu() -> Menu {
    Menu { dishes: vec!["pea soup".into(), "leek pie".into()] }
}

#[llm_node(
    system = "You are a waiter.",
    prompt = "The guest says: {wish:?}\nThe menu:\n{state.dishes:list}\nName one dish.",
    state = Menu,
)]
struct ChooseDish {
    wish: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    println!("{} dishes today", menu().dishes.len());
    let model = ScriptedModel::new().reply("pea soup");
    let run = Run::new(model);
    let node = ChooseDish { wish: "something warm".into() };
    let dish = run.call(&node).await?;
    assert_eq!(dish, "pea soup");
    Ok(())
}
