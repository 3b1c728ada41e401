// Cause: an argument is misspelt.
// Mend: write `goal`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(gaol = "Judge the claim.", output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
