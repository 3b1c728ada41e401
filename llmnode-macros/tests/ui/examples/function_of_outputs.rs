// Cause: the function that gives the examples returns outputs alone.
// Mend: return pairs of input and output.
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

fn examples() -> Vec<Choice> {
    vec![]
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
