// Cause: the value in the state is a list, which has no form of its own as text.
// Mend: write `{state.inventory:list}`.
use llmnode::llm_node;

struct World {
    inventory: Vec<String>,
}

#[llm_node(prompt = "Choose from {state.inventory}", state = World)]
struct Choose;

fn main() {}
