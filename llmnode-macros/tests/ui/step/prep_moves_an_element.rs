// Cause: the expression moves an element out of the state.
// Mend: write `state.questions[0].clone()`.
// Token: state.questions[0]
use llmnode::prelude::*;

#[derive(Default)]
struct Exam {
    questions: Vec<String>,
    answer: String,
}

#[llm_node(prompt = "Answer in one sentence: {question}", state = Exam, store = answer)]
struct AnswerFirst {
    #[prep(state.questions[0])]
    question: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let exam = Exam { questions: vec!["What is tea?".into()], answer: String::new() };
    let mut run = Run::new(ScriptedModel::new().reply("A drink.")).with_state(exam);
    run.step::<AnswerFirst>().await
}
