// Cause: what the tool returns cannot be written as JSON.
// Mend: put `#[llm_output]` on its type.
#![allow(unused)]

use llmnode::prelude::*;

struct Flower;

/// Picks a flower.
#[tool]
fn pick(color: String) -> Flower {
    drop(color);
    Flower
}

#[llm_node(prompt = "{what}", tools = [Pick])]
struct Tend {
    what: String,
}

fn main() {}
