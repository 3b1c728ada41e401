// Cause: an answer has an array of 64 numbers, and schemas have arrays of at most 32.
// Mend: write a `Vec`.
// Token: [f64; 64]
use llmnode::prelude::*;

#[llm_output]
struct Embedded {
    text: String,
    place: [f64; 64],
}

#[llm_node(prompt = "Embed {text}.", output = Embedded)]
struct Embed {
    text: String,
}

fn main() {}
