// Cause: a field is an array of more than 32 values, which has no JSON schema.
// Mend: write a `Vec`.
// Token: [Row; 40]
use llmnode::prelude::*;

#[llm_output]
struct Row {
    seats: u8,
}

#[llm_output]
struct Hall {
    rows: [Row; 40],
}

fn main() {
    let _: Option<Hall> = None;
}
