// Cause: the values are texts.
// Mend: write `false` and `true` without quotes.
// Errors: 2
#![allow(unused)]

use llmnode::prelude::*;

#[llm_node(prompt = "{what}", calls_in_text = "false")]
struct Tend {
    what: String,
    #[node(tools)]
    tools: llmnode::Toolset,
}

#[llm_node(prompt = "{what}", thoughts_in_text = "true")]
struct Think {
    what: String,
}

fn main() {}
