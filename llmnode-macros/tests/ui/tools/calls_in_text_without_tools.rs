// Cause: the node says how calls in text are read, and has no tools.
// Mend: add `tools`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{what}", calls_in_text = false)]
struct Tend {
    what: String,
}

fn main() {}
