// Cause: the prompt stands in the doc comment, and an argument that makes sense with it is there.
// Mend: write it as `prompt = "…"`.
use llmnode::prelude::*;

/// Greet {name} kindly.
#[llm_node(retries = 1)]
struct Greet {
    name: String,
}

fn main() {}
