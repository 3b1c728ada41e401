// Cause: an example names a field of the node that is called.
// Mend: write the value.
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    prompt = "Goal: {goal}",
    examples = [(Self { goal: self.goal.clone() }, Choice { item: "spoon".into() })],
    output = Choice
)]
struct ChooseItem {
    goal: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&ChooseItem { goal: "open the door".into() });
}
