// Cause: the bounds of a number are written as a range of Rust.
// Mend: write `range(min = 1, max = 5)`.
use llmnode::prelude::*;

#[llm_output]
struct Review {
    #[schemars(range(1..=5))]
    stars: u8,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let review = run.extract::<Review>("Good, but dear.").await?;
    println!("{}", review.stars);
    Ok(())
}
