// Cause: the call sets a part of the prompt.
// Mend: write `system = "…"` at the node; what changes from call to call is a field that it names.
// Token: system
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    println!("{}", run.call(&haiku).system("Be brief.").await?);
    Ok(())
}
