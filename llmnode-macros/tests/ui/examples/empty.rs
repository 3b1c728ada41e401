// Cause: the list of examples is empty.
// Mend: drop `examples`, or write an example.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = [],
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
