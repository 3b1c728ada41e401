// Cause: a field is a tuple of 17 values, and schemas have tuples of at most 16.
// Mend: write a struct, or a `Vec`.
// Token: Row
use llmnode::prelude::*;

#[llm_output]
struct Row {
    seats: u8,
}

#[llm_output]
struct Hall {
    rows: (Row, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8),
}

fn main() {}
