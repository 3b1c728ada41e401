// Cause: the report is asked of the output, behind `.await`.
// Mend: write `run.call(&haiku).report().await?`; what a call returns is chosen before it is awaited.
// Token: report
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    let report = run.call(&haiku).await?.report();
    println!("{report:?}");
    Ok(())
}
