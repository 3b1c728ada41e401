// Cause: an expression of `with` names a field without `self`.
// Mend: write `with(n = self.items.len())`.
// Token: items
use llmnode::prelude::*;

#[llm_node(
    prompt = "Here are {n} items:\n{items:list}\nSum them up in one sentence.",
    with(n = items.len()),
)]
struct SumUp {
    items: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("Two things."));
    let node = SumUp { items: vec!["tea".into(), "milk".into()] };
    println!("{}", run.call(&node).await?);
    Ok(())
}
