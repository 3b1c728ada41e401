// Cause: a map stands in a `for` loop without `.await`.
// Mend: write `for result in run.map(nodes).await`.
// Token: run.map(&nodes)
use llmnode::prelude::*;

#[llm_node(prompt = "Is this spam?\n{mail:fence}", output = bool, retries = 1)]
struct IsSpam {
    mail: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let run = Run::new(ScriptedModel::new().reply("true").reply("false"));
    let nodes = vec![IsSpam { mail: "Buy!".into() }, IsSpam { mail: "Hello".into() }];
    for result in run.map(&nodes) {
        match result {
            Ok(spam) => println!("{spam}"),
            Err(error) => println!("{error}"),
        }
    }
}
