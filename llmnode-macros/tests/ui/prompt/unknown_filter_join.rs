// Cause: a variable has a filter that does not exist.
// Mend: write `{words:list}`, or a field that holds the joined text.
// Token: join
// Token: words:join
use llmnode::prelude::*;

#[llm_node(
    system = "You write slogans.",
    prompt = "Write a slogan for {product}. Use these words: {words:join}.",
    temperature = 0.9,
)]
struct Slogan {
    product: String,
    words: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("Tea: hot and good!"));
    let node = Slogan { product: "tea".into(), words: vec!["hot".into(), "good".into()] };
    println!("{}", run.call(&node).await?);
    Ok(())
}
