// Cause: a node with a goal has no input.
// Mend: add a field.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", output = Verdict)]
struct Judge;

fn main() {}
