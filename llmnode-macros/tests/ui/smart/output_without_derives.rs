// Cause: the type of the output has no derives.
// Mend: put `#[llm_output]` on it.
#![allow(unused)]

use llmnode::prelude::*;

struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Judge { claim: String::new() });
}
