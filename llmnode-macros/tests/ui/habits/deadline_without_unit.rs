// Cause: a time is a bare number.
// Mend: write `Duration::from_secs(30)`; the attribute takes `deadline = 30s`.
// Token: 30
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    println!("{}", run.call(&haiku).deadline(30).await?);
    Ok(())
}
