// Cause: `?` follows an awaited map, whose value is a `Vec` of results.
// Mend: write `run.map(nodes).concurrency(4).try_all().await?`.
// Token: .try_all()
// Missed: rustc has its own words for `?`, and they name no remedy.
use llmnode::prelude::*;

#[llm_node(
    prompt = "From 1 to 5, how good is this review for the shop?\n{review:fence}",
    output = u8,
    retries = 1,
)]
struct Rate {
    review: String,
}

async fn mean(run: &Run, reviews: Vec<String>) -> Result<f64, NodeError> {
    let nodes = reviews.into_iter().map(|review| Rate { review });
    let ratings = run.map(nodes).concurrency(4).await?;
    let mut sum = 0.0;
    for rating in &ratings {
        sum += f64::from(*rating);
    }
    Ok(sum / ratings.len() as f64)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("5").reply("2"));
    let mean = mean(&run, vec!["Splendid!".into(), "Never again.".into()]).await?;
    assert_eq!(mean, 3.5);
    Ok(())
}
