// Cause: the function lacks `#[tool]`.
// Mend: put `#[tool]` above it.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds.
fn weed(bed: u8) -> u8 {
    bed
}

#[llm_node(prompt = "{what}", tools = [Weed])]
struct Tend {
    what: String,
}

fn main() {}
