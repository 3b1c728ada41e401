// Cause: the goal names a field in braces, as a prompt does.
// Mend: drop the braces; every field is sent.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge {claim}.", output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
