// Cause: a node with a prompt has a form.
// Mend: drop the form, or write a goal in place of the prompt.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(prompt = "Judge: {claim}", form = chat, output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
