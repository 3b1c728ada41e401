// Cause: a field of a node with a goal is a reference.
// Mend: write `String`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", output = Verdict)]
struct Judge {
    claim: &'static str,
}

fn main() {}
