// Cause: a key of schemars' attribute is misspelt.
// Mend: write `description`, or better a doc comment.
use llmnode::prelude::*;

#[llm_output]
struct Review {
    #[schemars(descripton = "From 1 to 5.")]
    stars: u8,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let review = run.extract::<Review>("Good, but dear.").await?;
    println!("{}", review.stars);
    Ok(())
}
