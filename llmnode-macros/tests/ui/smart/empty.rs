// Cause: the goal says nothing.
// Mend: say what the node is to do.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = " ", output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
