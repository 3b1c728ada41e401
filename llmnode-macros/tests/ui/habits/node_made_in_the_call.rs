// Cause: the node is given away, and a call borrows it.
// Mend: write `run.call(&Haiku { … })`.
// Token: Haiku { topic: topic.to_string() }
use llmnode::prelude::*;

#[llm_node(system = "You are a poet.", prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

async fn haiku(run: &Run, topic: &str) -> Result<String, NodeError> {
    run.call(Haiku { topic: topic.to_string() }).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("Old pond …"));
    println!("{}", haiku(&run, "compilers").await?);
    Ok(())
}
