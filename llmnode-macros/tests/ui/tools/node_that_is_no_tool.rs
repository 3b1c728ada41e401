// Cause: the node in the list does not say that it is a tool.
// Mend: add the word `tool` to it.
#![allow(unused)]

use llmnode::prelude::*;

/// Plans a garden.
#[llm_node(prompt = "{where_to}")]
struct Plan {
    where_to: String,
}

#[llm_node(prompt = "{what}", tools = [Plan])]
struct Tend {
    what: String,
}

fn main() {}
