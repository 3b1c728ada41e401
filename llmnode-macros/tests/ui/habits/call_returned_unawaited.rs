// Cause: a call is returned as if it were its result.
// Mend: make the function `async`, and write `run.call(&node).await`.
// Token: run.call(node)
use llmnode::prelude::*;

#[llm_node(prompt = "Greet {name}.")]
struct Greet {
    name: String,
}

fn greet(run: &Run, node: &Greet) -> Result<String, NodeError> {
    run.call(node)
}

fn main() {
    let _ = greet;
}
