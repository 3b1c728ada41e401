// Cause: the input of an example has a field that the node lacks.
// Mend: write the fields of the node.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = [(Self { gaol: "eat soup".into() }, Choice { item: "spoon".into() })],
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
