// Cause: `#[llm_output]` stands on a union.
// Mend: write an enum with a variant for each way to answer.
use llmnode::llm_output;

#[llm_output]
union Choose {
    a: u8,
    b: u8,
}

fn main() {
    let _ = Choose { a: 0 };
}
