// Cause: a stream is the subject of `for`.
// Mend: write `while let Some(event) = stream.next().await { .. }`.
// Token: run.call(&haiku).stream()
// Token: for
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    for event in run.call(&haiku).stream() {
        println!("{event:?}");
    }
    Ok(())
}
