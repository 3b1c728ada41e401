// Cause: the form is written as a text.
// Mend: write `form = chat`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", form = "chat", output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
