// Cause: `#[validate]` stands on a union.
// Mend: write an enum with a variant for each way to answer.
use llmnode::validate;

#[validate]
union Choose {
    a: u8,
    b: u8,
}

fn main() {
    let _ = Choose { a: 0 };
}
