// Cause: a generic function has no schema.
// Mend: write the types out.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds a bed.
#[tool]
fn weed<T: std::fmt::Display>(bed: u8) -> u8 {
    bed
}

fn main() {}
