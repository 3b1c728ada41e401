// Cause: several arguments and fields are wrong at once, and each is reported.
// Mend: mend them in any order.
// Errors: 6
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge {claim}.", form = yaml, prompt = "Judge it.", retries = "2", output = Verdict)]
struct Judge {
    claim: &'static str,
    #[node(skip)]
    note: String,
}

fn main() {}
