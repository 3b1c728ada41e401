// Cause: a set gets a function of `#[tool]`.
// Mend: name its type, `.tool::<Double>()`.
#![allow(unused)]

use llmnode::prelude::*;

/// Doubles a number.
#[tool]
fn double(number: u32) -> u32 {
    number * 2
}

fn tools() -> Toolset {
    Toolset::new().tool(double)
}

fn main() {}
