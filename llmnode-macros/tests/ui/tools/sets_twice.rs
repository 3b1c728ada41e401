// Cause: two fields are marked as sets of tools.
// Mend: join them in one field.
#![allow(unused)]

use llmnode::Toolset;
use llmnode::prelude::*;

#[llm_node(prompt = "{what}")]
struct Tend {
    what: String,
    #[node(tools)]
    ours: Toolset,
    #[node(tools)]
    theirs: Toolset,
}

fn main() {}
