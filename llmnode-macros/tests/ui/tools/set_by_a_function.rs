// Cause: `Toolset::tool` gets the function, not the type that `#[tool]` makes of it.
// Mend: name the type: `.tool::<Double>()`.
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
