// Cause: the length of an array is a constant, of more than 32.
// Mend: write a `Vec`.
// Token: [f64; DIMENSIONS]
use llmnode::prelude::*;

const DIMENSIONS: usize = 384;

#[llm_output]
struct Embedded {
    place: Option<[f64; DIMENSIONS]>,
}

fn main() {}
