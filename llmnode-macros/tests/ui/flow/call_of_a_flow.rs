// Cause: a flow is called as a node is.
// Mend: write `run.flow(Support).await?`.
// Token: call
// Token: &Support
use llmnode::prelude::*;

#[derive(Default)]
struct Case {
    question: String,
    answer: String,
}

#[llm_node(prompt = "Answer: {question}", state = Case, store = answer)]
struct Answer {
    #[prep(state.question.clone())]
    question: String,
}

flow! {
    Support(Case): Answer => end,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let case = Case { question: "Why?".into(), answer: String::new() };
    let mut run = Run::new(ScriptedModel::new().reply("Because.")).with_state(case);
    run.call(&Support).await?;
    println!("{}", run.state_mut().answer);
    Ok(())
}
