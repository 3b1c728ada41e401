// Cause: The first call is not awaited, so `draft` is a call and no `String`.
// Mend: write `let draft = run.call(&write).label("tenant", tenant).await?;`.
// Token: .await?
// Missed: rustc proposes `.await` only where the output would fit at once.
use std::time::Duration;

use llmnode::prelude::*;

#[llm_node(prompt = "Write a letter to {receiver}.", max_tokens = 300)]
struct Write {
    receiver: String,
}

#[llm_node(prompt = "Review this letter:\n{draft:fence}", max_tokens = 100)]
struct Review {
    draft: String,
}

async fn review(run: &Run, receiver: &str, tenant: &'static str) -> Result<String, NodeError> {
    let write = Write { receiver: receiver.into() };
    let draft = run.call(&write).label("tenant", tenant);
    let review = Review { draft };
    run.call(&review).label("tenant", tenant).deadline(Duration::from_secs(20)).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("Dear bank, ..").reply("Too short."));
    assert_eq!(review(&run, "a bank", "acme").await?, "Too short.");
    Ok(())
}
