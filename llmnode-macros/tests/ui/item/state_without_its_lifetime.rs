// Cause: the state borrows, and the node names it without its lifetime.
// Mend: write `state = World<'_>`.
// Token: World
use llmnode::prelude::*;

struct World<'a> {
    inventory: &'a [String],
}

#[llm_node(prompt = "Choose:\n{state.inventory:list}", state = World)]
struct Choose;

fn main() {}
