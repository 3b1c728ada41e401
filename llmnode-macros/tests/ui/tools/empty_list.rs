// Cause: the list of tools is empty.
// Mend: drop it.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{what}", tools = [])]
struct Tend {
    what: String,
}

fn main() {}
