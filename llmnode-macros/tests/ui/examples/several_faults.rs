// Cause: one example is no pair, and another has one part.
// Mend: write both as pairs.
// Errors: 2
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = ["eat soup", ("dig",)],
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
