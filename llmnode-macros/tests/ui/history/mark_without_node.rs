// Cause: the mark of the history is written as an attribute of its own.
// Mend: write `#[node(history)]`.
use llmnode::prelude::*;

#[llm_node(prompt = "{question}")]
struct Chat {
    #[history]
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
