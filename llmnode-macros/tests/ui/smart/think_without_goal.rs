// Cause: a node with a prompt thinks.
// Mend: drop the word, or write a goal in place of the prompt.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(prompt = "Judge: {claim}", think, output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
