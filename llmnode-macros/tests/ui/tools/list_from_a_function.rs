// Cause: the tools come from a function at run time.
// Mend: give the node the field `#[node(tools)] tools: Toolset`.
#![allow(unused)]

use llmnode::prelude::*;

fn set() -> Toolset {
    Toolset::new()
}

#[llm_node(prompt = "{question}", tools = set())]
struct Ask {
    question: String,
}

fn main() {}
