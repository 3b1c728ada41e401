// Cause: the length of an array is a parameter of the answer.
// Mend: write a `Vec`.
// Token: [f64; N]
use llmnode::prelude::*;

#[llm_output]
struct Embedded<const N: usize> {
    text: String,
    place: [f64; N],
}

#[llm_node(prompt = "Embed {text}.", output = Embedded<3>)]
struct Embed {
    text: String,
}

fn main() {}
