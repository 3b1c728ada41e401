// Cause: The path names a private field of a type of another module.
// Mend: Make the field visible, or write a validator beside the type.

mod types {
    use llmnode::prelude::*;

    #[llm_output]
    pub struct Choice {
        item: String,
    }
}

use llmnode::prelude::*;

struct World {
    inventory: Vec<String>,
}

#[llm_node(prompt = "Choose.", output = types::Choice, state = World, choices(item = state.inventory))]
struct Choose;

fn main() {}
