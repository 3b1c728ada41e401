// Cause: a type inside of the output has a schema, and serde cannot read it.
// Mend: put `#[llm_output]` on it, too.
// Token: Step
// Token: struct Step
// Errors: 4
// Missed: whether serde reads a type may depend on the definition that asks, so only its derives can tell, each for itself.
use llmnode::prelude::*;
use schemars::JsonSchema;

#[derive(JsonSchema)]
struct Step {
    action: String,
}

#[llm_output]
struct Plan {
    steps: Vec<Step>,
}

fn main() {}
