// Cause: The expression of `#[prep]` moves the `String` out of the state, which it sees by reference.
// Mend: write `#[prep(state.question.clone())]`.
// Token: state.question
use llmnode::prelude::*;

#[derive(Default)]
struct Quiz {
    question: String,
    seconds: u32,
    answer: Option<String>,
}

#[llm_node(
    system = "You are a contestant. You have {seconds} seconds.",
    prompt = "{question}",
    state = Quiz,
    store = answer,
)]
struct Answer {
    #[prep(state.question)]
    question: String,
    #[prep(state.seconds)]
    seconds: u32,
}

flow! { Round(Quiz): Answer => end }

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let quiz = Quiz { question: "What is the capital of Norway?".into(), seconds: 30, ..Quiz::default() };
    let mut run = Run::new(ScriptedModel::new().reply("Oslo.")).with_state(quiz);
    run.flow(Round).await?;
    assert_eq!(run.state().answer.as_deref(), Some("Oslo."));
    Ok(())
}
