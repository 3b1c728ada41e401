// Cause: a field is marked as a set of tools and as skipped.
// Mend: drop `skip`.
#![allow(unused)]

use llmnode::Toolset;
use llmnode::prelude::*;

#[llm_node(prompt = "{what}")]
struct Tend {
    what: String,
    #[node(tools, skip)]
    more: Toolset,
}

fn main() {}
