// Cause: the argument has no name.
// Mend: name it, and take it apart in the function.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds a bed.
#[tool]
fn weed((row, bed): (u8, u8)) -> u8 {
    row + bed
}

fn main() {}
