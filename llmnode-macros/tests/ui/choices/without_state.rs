// Cause: `choices` reads the state, and the node names no state.
// Mend: Add `state = …`.

use llmnode::prelude::*;

#[llm_output]
struct Choice {
    item: String,
}

#[llm_node(prompt = "Choose.", output = Choice, choices(item = state.inventory))]
struct Choose;

fn main() {}
