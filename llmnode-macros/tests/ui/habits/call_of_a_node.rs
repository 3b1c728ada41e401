// Cause: the node is asked to call itself.
// Mend: write `run.call(&haiku)`.
// Token: call
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    println!("{}", haiku.call(&run).await?);
    Ok(())
}
