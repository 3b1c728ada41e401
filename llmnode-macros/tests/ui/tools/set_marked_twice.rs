// Cause: a field is marked as a set of tools twice.
// Mend: mark it once.
#![allow(unused)]

use llmnode::Toolset;
use llmnode::prelude::*;

#[llm_node(prompt = "{what}")]
struct Tend {
    what: String,
    #[node(tools, tools)]
    more: Toolset,
}

fn main() {}
