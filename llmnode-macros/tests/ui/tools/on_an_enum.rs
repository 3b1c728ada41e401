// Cause: `#[tool]` stands on an enum.
// Mend: put it on the function that takes the enum.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds.
#[tool]
enum Weed {
    All,
    One(u8),
}

fn main() {}
