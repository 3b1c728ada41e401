// Cause: the type of an input cannot be written as JSON.
// Mend: put `#[llm_output]` on it.
#![allow(unused)]

use llmnode::prelude::*;

struct Claim {
    text: String,
}

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", output = Verdict)]
struct Judge {
    claim: Claim,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Judge { claim: Claim { text: String::new() } });
}
