// Cause: the settings are written as a struct.
// Mend: write `Settings::new().retries(2)`.
// Token: Settings { retries: Some(2), ..Settings::new() }
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let run = run.with_settings(Settings { retries: Some(2), ..Settings::new() });
    println!("{}", run.call(&haiku).await?);
    Ok(())
}
