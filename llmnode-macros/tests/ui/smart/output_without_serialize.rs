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
