// Cause: the argument is called by another form of its word.
// Mend: write `retries = 2`.
// Token: retry
use llmnode::prelude::*;

#[llm_node(prompt = "Rate {topic}.", output = u8, retry = 2)]
struct Rate {
    topic: String,
}

fn main() {}
