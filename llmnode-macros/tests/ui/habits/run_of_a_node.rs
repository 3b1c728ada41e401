// Cause: the node is asked to run itself.
// Mend: write `run.call(&greet)`.
// Token: run
use llmnode::prelude::*;

#[llm_node(prompt = "Greet {name}.")]
struct Greet {
    name: String,
}

async fn greet(run: &Run, greet: Greet) -> Result<String, NodeError> {
    greet.run(run).await
}

fn main() {
    let _ = greet;
}
