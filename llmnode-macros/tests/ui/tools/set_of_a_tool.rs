// Cause: a node that is a tool has a set of tools among its arguments.
// Mend: drop the field, or drop `tool`.
#![allow(unused)]

use llmnode::Toolset;
use llmnode::prelude::*;

/// Tends the garden.
#[llm_node(tool, prompt = "{what}")]
struct Tend {
    what: String,
    #[node(tools)]
    more: Toolset,
}

fn main() {}
