// Cause: the model would not know what the tool is for.
// Mend: write a doc comment.
#![allow(unused)]

use llmnode::prelude::*;

#[tool]
fn weed(bed: u8) -> u8 {
    bed
}

fn main() {}
