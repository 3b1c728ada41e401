// Cause: the node lists itself.
// Mend: drop it from the list.
#![allow(unused)]

use llmnode::prelude::*;

/// Tends a garden.
#[llm_node(tool, prompt = "{what}", tools = [Tend])]
struct Tend {
    what: String,
}

fn main() {}
