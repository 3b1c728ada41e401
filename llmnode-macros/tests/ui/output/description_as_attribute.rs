// Cause: the description of a field is an attribute of its own.
// Mend: write a doc comment, as in `/// From 1 to 5.`, which the model reads.
use llmnode::prelude::*;

#[llm_output]
struct Review {
    #[description = "From 1 to 5."]
    stars: u8,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let review = run.extract::<Review>("Good, but dear.").await?;
    println!("{}", review.stars);
    Ok(())
}
