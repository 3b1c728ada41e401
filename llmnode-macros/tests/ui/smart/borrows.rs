// Cause: a node with a goal borrows a text.
// Mend: write `String`, and drop the lifetime.
#![allow(unused)]

use llmnode::prelude::*;

#[llm_output]
struct Verdict {
    holds: bool,
}

#[llm_node(goal = "Judge the claim.", output = Verdict)]
struct Judge<'a> {
    claim: &'a str,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&Judge { claim: "2 is even" });
}
