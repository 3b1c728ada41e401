// Cause: a setting is a method of the run.
// Mend: write `run.with_settings(Settings::new().retries(3))`, or `run.call(&haiku).retries(3)`.
// Token: retries
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let run = run.retries(3);
    println!("{}", run.call(&haiku).await?);
    Ok(())
}
