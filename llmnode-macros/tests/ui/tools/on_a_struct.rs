// Cause: `#[tool]` stands on a struct.
// Mend: on a node, write the word `tool` in `#[llm_node(..)]`.
#![allow(unused)]

use llmnode::prelude::*;

/// Weeds.
#[tool]
struct Weed {
    bed: u8,
}

fn main() {}
