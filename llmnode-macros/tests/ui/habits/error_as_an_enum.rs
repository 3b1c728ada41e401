// Cause: the error is matched as if it were an enum.
// Mend: ask its category: `error.category() == Category::RateLimitError`.
// Token: RateLimit
use llmnode::prelude::*;

#[llm_node(prompt = "Write a haiku about {topic}.")]
struct Haiku {
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let haiku = Haiku { topic: "rain".into() };
    match run.call(&haiku).await {
        Err(NodeError::RateLimit) => println!("later"),
        other => println!("{}", other?),
    }
    Ok(())
}
