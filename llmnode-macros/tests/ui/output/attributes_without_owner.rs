// Cause: arguments of schemars' and serde's attributes are attributes of their own.
// Mend: write them into `#[schemars(..)]` and `#[serde(..)]`.
// Errors: 4
use llmnode::prelude::*;

#[llm_output]
struct Review {
    #[range(min = 1, max = 5)]
    stars: u8,
    #[length(max = 80)]
    title: String,
    #[pattern = "[A-Z]+"]
    code: String,
    #[rename = "why"]
    reason: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let review = run.extract::<Review>("Good, but dear.").await?;
    println!("{}", review.stars);
    Ok(())
}
