// Cause: the field of the earlier messages is not marked.
// Mend: write `#[node(history)]` above it.
use llmnode::prelude::*;

#[llm_node(prompt = "{question}")]
struct Chat {
    earlier: Vec<Message>,
    question: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let answer = run.call(&Chat { earlier: vec![Message::user("hello")], question: "And now?".into() }).await?;
    println!("{}", answer);
    Ok(())
}
