// Cause: the prompt of the README's first node names a variable that is no field of it.
// Mend: write the name of the field.
use llmnode::prelude::*;

struct World { inventory: Vec<String> }

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(
    system   = "You are a careful adventurer.",
    prompt   = "Goal: {gaol}\nItems:\n{state.inventory:list}\nChoose one.",
    output   = Choice,
    state    = World,
    retries  = 2,
    deadline = 20s,
)]
struct ChooseItem { goal: String }

fn main() {
    let _ = ChooseItem { goal: "open the door".into() };
}
