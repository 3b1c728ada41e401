// Cause: the bounds of a text's length, its pattern and its description have other names.
// Mend: write `length(max = 80)`, `regex(pattern = "…")`, `extend("format" = "date")`, and a doc comment.
// Errors: 4
use llmnode::prelude::*;

#[llm_output]
struct Review {
    #[schemars(max_length = 80)]
    title: String,
    #[schemars(pattern = "[A-Z]+")]
    code: String,
    #[schemars(format = "date")]
    day: String,
    #[schemars(desc = "Why?")]
    reason: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new());
    let review = run.extract::<Review>("Good, but dear.").await?;
    println!("{}", review.title);
    Ok(())
}
