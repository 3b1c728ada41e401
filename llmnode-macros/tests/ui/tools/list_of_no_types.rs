// Cause: something else than a type stands in the list.
// Mend: name a type.
#![allow(unused)]

use llmnode::prelude::*;

/// Waters the plants.
#[tool]
fn water() {}

/// Cuts the grass.
#[tool]
fn mow() {}

#[llm_node(prompt = "{what}", tools = [Water, =])]
struct Tend {
    what: String,
}

fn main() {}
