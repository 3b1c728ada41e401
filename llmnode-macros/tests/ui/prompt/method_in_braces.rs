// Cause: a variable of the prompt calls a method.
// Mend: write `{n}`, and declare `with(n = self.items.len())` in the node's attribute.
// Token: items.len()
use llmnode::prelude::*;

#[llm_node(
    system = "You are brief.",
    prompt = "Here are {items.len()} items:\n{items:list}\nSum them up in one sentence.",
)]
struct SumUp {
    items: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("Two things."));
    let node = SumUp { items: vec!["tea".into(), "milk".into()] };
    let text = run.call(&node).temperature(0.2).await?;
    println!("{text}");
    Ok(())
}
