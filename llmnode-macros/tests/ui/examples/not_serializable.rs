// Cause: the output of the examples cannot be written as JSON.
// Mend: put `#[llm_output]` on the output, or derive `serde::Serialize`.
use llmnode::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = [("eat soup", Choice { item: "spoon".into() }), ("dig", Choice { item: "spade".into() })],
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
