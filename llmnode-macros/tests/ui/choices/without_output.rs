// Cause: `choices` is given, and the answer is raw text.
// Mend: Add `output = …`.

use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_node(prompt = "Choose.", state = World, choices(item = state.inventory))]
struct Choose;

fn main() {}
