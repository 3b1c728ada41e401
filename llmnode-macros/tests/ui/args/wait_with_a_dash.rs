// Cause: a range of waits has a dash.
// Mend: write `wait = 1s..60s`.
// Token: -
use llmnode::prelude::*;

#[llm_node(prompt = "Sort {letter}.", transport_retries = 3, wait = 1s-60s)]
struct Sort {
    letter: String,
}

fn main() {}
