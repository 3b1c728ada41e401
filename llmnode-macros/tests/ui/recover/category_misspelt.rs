// Cause: a category is called `network`, without `_error`.
// Mend: write `network`.
// Token: network_error
use llmnode::prelude::*;

#[llm_output]
struct Answer {
    text: String,
    sure: bool,
}

#[llm_node(
    prompt = "Answer the question: {question}",
    output = Answer,
    recover(
        schema_error = [repair(2), fallback],
        network_error = [retry(5, 1s..60s), fallback],
    ),
    fallback = Ask::unknown,
)]
struct Ask {
    question: String,
}

impl Ask {
    fn unknown(&self, _: &NodeError) -> Answer {
        Answer { text: "I don't know.".into(), sure: false }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"text": "42", "sure": true}"#));
    let answer = run.call(&Ask { question: "What is it?".into() }).await?;
    println!("{} {}", answer.text, answer.sure);
    Ok(())
}
