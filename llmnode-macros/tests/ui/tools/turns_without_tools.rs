// Cause: the node has turns, and no tools.
// Mend: add `tools`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{what}", turns = 3)]
struct Tend {
    what: String,
}

fn main() {}
