// Cause: a type inside of the output is read and described, but not written.
// Mend: put `#[llm_output]` on it, or derive `Serialize`, too.
// Token: struct Step
use llmnode::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Step {
    action: String,
}

#[llm_output]
struct Plan {
    steps: Vec<Step>,
}

fn main() {}
