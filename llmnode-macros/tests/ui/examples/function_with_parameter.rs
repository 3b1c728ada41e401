// Cause: the function that gives the examples takes a parameter.
// Mend: write a function without parameters.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = examples,
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn examples(many: usize) -> Vec<(ChooseItem, Choice)> {
    let _ = many;
    vec![]
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
