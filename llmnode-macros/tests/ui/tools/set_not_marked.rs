// Cause: the field with the tools is not marked.
// Mend: mark it `#[node(tools)]`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{task}")]
struct Tend {
    task: String,
    tools: llmnode::Toolset,
}

fn main() {}
