// Cause: the value is a text.
// Mend: write `false` without quotes.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{what}", calls_in_text = "false")]
struct Tend {
    what: String,
    #[node(tools)]
    tools: llmnode::Toolset,
}

fn main() {}
