use llmnode::llm_node;

struct World {
    inventory: Vec<String>,
}

#[llm_node(prompt = "Choose from {state.inventory}", state = World)]
struct Choose;

fn main() {}
