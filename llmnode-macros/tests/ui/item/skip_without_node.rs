// Cause: the mark of a skipped field is written as an attribute of its own.
// Mend: write `#[node(skip)]`.
use llmnode::prelude::*;

#[llm_node(prompt = "{question}")]
struct Ask {
    #[skip]
    id: u32,
    question: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let answer = run.call(&Ask { id: 1, question: "Who?".into() }).await?;
    println!("{}", answer);
    Ok(())
}
