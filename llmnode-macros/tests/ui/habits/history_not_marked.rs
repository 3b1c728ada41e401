// Cause: the field holds earlier messages, and nothing says so.
// Mend: mark it `#[node(history)]`.
// Token: history
use llmnode::prelude::*;

#[llm_node(system = "You are a helpful assistant.", prompt = "{question}")]
struct Chat {
    history: Vec<Message>,
    question: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("Hello!").reply("Ada."));
    let mut history = Vec::new();
    for question in ["Hi, I am Ada.", "Who am I?"] {
        let node = Chat { history: history.clone(), question: question.into() };
        let answer = run.call(&node).await?;
        history.push(Message::user(question));
        history.push(Message::assistant(answer));
    }
    println!("{} messages", history.len());
    Ok(())
}
