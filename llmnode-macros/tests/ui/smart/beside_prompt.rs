// Cause: a node has a goal and a prompt.
// Mend: drop one of them.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", prompt = "Judge: {claim}", output = Verdict)]
struct Judge {
    claim: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Judge { claim: String::new() });
    let _ = run.with_program(llmnode::smart::Program::<Judge>::new());
}
