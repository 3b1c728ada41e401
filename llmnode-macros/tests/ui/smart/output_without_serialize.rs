// Cause: the output can be read but not written, as examples are.
// Mend: put `#[llm_output]` on it, or derive `Serialize`.
#![allow(unused)]

use llmnode::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
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
