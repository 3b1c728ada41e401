// Cause: there is no such form.
// Mend: write `chat` or `json`.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", form = xml, output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {}
