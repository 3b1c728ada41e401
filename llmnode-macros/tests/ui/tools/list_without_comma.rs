// Cause: a comma is missing between two tools.
// Mend: write the comma.
#![allow(unused)]

use llmnode::prelude::*;

/// Waters the plants.
#[tool]
fn water() {}

/// Cuts the grass.
#[tool]
fn mow() {}

#[llm_node(prompt = "{what}", tools = [Water Mow])]
struct Tend {
    what: String,
}

fn main() {}
