// Cause: the argument's type cannot be read from JSON.
// Mend: put `#[llm_output]` on it.
#![allow(unused)]

use llmnode::prelude::*;

#[derive(Clone)]
struct Bed {
    row: u8,
}

/// Weeds a bed.
#[tool]
fn weed(bed: Bed) -> u8 {
    bed.row
}

fn main() {}
