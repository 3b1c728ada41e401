// Cause: the field is an `Option`, and the prompt does not say what stands for `None`.
// Mend: write `{note:or(none)}`.
// Token: note
use llmnode::prelude::*;

#[llm_node(
    system = "You are a polite assistant.",
    prompt = "Write a mail to {name}.\nNote of the user: {note}",
    max_tokens = 200,
)]
struct WriteMail {
    name: String,
    note: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("Dear Ada, …"));
    let nodes = [
        WriteMail { name: "Ada".into(), note: None },
        WriteMail { name: "Bob".into(), note: Some("be short".into()) },
    ];
    for node in &nodes {
        println!("{}", run.call(node).await?);
    }
    Ok(())
}
