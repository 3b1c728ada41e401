// Cause: the argument's type is not named.
// Mend: name it.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds a bed.
#[tool]
fn weed(bed: impl std::fmt::Display) -> String {
    bed.to_string()
}

fn main() {}
