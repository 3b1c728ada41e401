// Cause: a node with a goal is generic.
// Mend: write the type.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", output = Verdict)]
struct Judge<T> {
    claim: T,
}

fn main() {}
