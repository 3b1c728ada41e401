// Cause: the argument's type cannot be cloned.
// Mend: derive `Clone` for it.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Bed {
    row: u8,
}

/// Weeds a bed.
#[tool]
fn weed(bed: Bed) -> u8 {
    bed.row
}

fn main() {}
