// Cause: a call gets a text in place of a node.
// Mend: write a node, or `run.extract::<T>(text)`.
// Token: "Say hello"
use llmnode::prelude::*;

async fn ask(run: &Run<()>) -> bool {
    run.call("Say hello").await.is_ok()
}

fn main() {
    let _ = ask;
}
