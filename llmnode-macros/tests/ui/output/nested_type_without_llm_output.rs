// Cause: a type inside of the output lacks `#[llm_output]`.
// Mend: put `#[llm_output]` on it, too. `std::time::Instant` and the like have no form in JSON: ask for a date or a number.
// Token: struct Step
use llmnode::prelude::*;

struct Step {
    text: String,
}

#[llm_output]
struct Plan {
    steps: Vec<Step>,
}

#[llm_node(prompt = "Goal: {goal}", output = Plan)]
struct MakePlan {
    goal: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let plan = MakePlan { goal: "open the door".into() };
    let _ = run.call(&plan);
}
