// Cause: a map is given a setting that a call has.
// Mend: write `.settings(Settings::new().label("nightly"))`.
// Token: label
use llmnode::prelude::*;

#[llm_node(prompt = "Rate from 1 to 5:\n{review:fence}", output = u8, retries = 1)]
struct Rate {
    review: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let run = Run::new(ScriptedModel::new().reply("5").reply("1"));
    let nodes = ["Great!", "Awful."].map(|review| Rate { review: review.into() });
    for result in run.map(nodes).label("nightly").await {
        println!("{result:?}");
    }
}
