// Cause: the examples are the call of a function.
// Mend: write the path of the function without parentheses.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = examples(),
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn examples() -> Vec<(ChooseItem, Choice)> {
    vec![]
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
