// Cause: arguments of a prompt stand beside a goal.
// Mend: drop them; examples go into a program.
// Errors: 3
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(
    goal = "Judge the claim.",
    system = "Be strict.",
    with(n = self.claim.len()),
    examples = [("2 is odd", Verdict { holds: false })],
    output = Verdict,
)]
struct Judge {
    claim: String,
}

fn main() {}
