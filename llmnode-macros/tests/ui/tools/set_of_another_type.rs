// Cause: the marked field holds no set of tools.
// Mend: make it a `Toolset`.
#![allow(unused)]

use llmnode::Toolset;
use llmnode::prelude::*;

#[llm_node(prompt = "{what}")]
struct Tend {
    what: String,
    #[node(tools)]
    more: Vec<Toolset>,
}

fn main() {}
