// Cause: the state borrows, and the node names it without its lifetime.
// Mend: write `state = World<'_>`.
// Token: World
// Errors: 2
// Missed: rustc asks for the lifetime in the impl and in its `where` clause; the first error has the remedy.
use llmnode::prelude::*;

struct World<'a> {
    inventory: &'a [String],
}

#[llm_node(prompt = "Choose:\n{state.inventory:list}", state = World)]
struct Choose;

fn main() {}
