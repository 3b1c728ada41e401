// Cause: tools are given to a registry as a list of types.
// Mend: write `.tools(Toolset::new().tool::<Double>())`.
#![allow(unused)]

use llmnode::graph::Registry;
use llmnode::prelude::*;

/// Doubles a number.
#[tool]
fn double(number: u32) -> u32 {
    number * 2
}

fn registry() -> Registry {
    Registry::new().tools([Double])
}

fn main() {}
