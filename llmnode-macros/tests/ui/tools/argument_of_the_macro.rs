// Cause: `#[tool]` has no such argument.
// Mend: see the list.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds.
#[tool(timeout = 3s)]
fn weed(bed: u8) -> u8 {
    bed
}

fn main() {}
