// Cause: `?` stands behind a map, which has a result for each node.
// Mend: write `.try_all().await?` for the first error, or look at each result.
// Token: .try_all()
// Missed: rustc has its own words for `?`, and they name no remedy.
use llmnode::prelude::*;

#[llm_node(prompt = "Translate into Danish: {word}")]
struct Translate {
    word: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("te").reply("kaffe"));
    let nodes = ["tea", "coffee"].map(|word| Translate { word: word.into() });
    let words = run.map(nodes).concurrency(2).await?;
    println!("{}", words.join(", "));
    Ok(())
}
