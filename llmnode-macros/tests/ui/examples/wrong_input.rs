// Cause: the input of an example is neither the node nor a text.
// Mend: write a value of the node, or the text of a user message.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = [(7, Choice { item: "spoon".into() })],
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
