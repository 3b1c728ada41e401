// Cause: the argument has no derive at all.
// Mend: put `#[llm_output]` on it, and derive `Clone`.
#![allow(unused)]

use llmnode::prelude::*;

enum Bed {
    North,
    South,
}

/// Weeds a bed.
#[tool]
async fn weed(bed: Bed) -> bool {
    matches!(bed, Bed::North)
}

fn main() {}
