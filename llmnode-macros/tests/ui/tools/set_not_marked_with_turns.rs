// Cause: the field with the tools is not marked, and there are `turns`.
// Mend: mark it `#[node(tools)]`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{task}", turns = 6)]
struct Tend {
    task: String,
    tools: llmnode::Toolset,
}

fn main() {}
